// Command clefbar runs Clef decision models on the machine in front of you. Without
// arguments it is the menu-bar app; with a subcommand it is the command line, which
// needs no display.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	_ "clefbar/app/locale" // before the window toolkit
)

// openDesktop opens the window and returns the exit code of the app. A build
// without a window leaves it nil.
var openDesktop func() int

func main() {
	args := os.Args[1:]
	if len(args) == 0 || strings.HasPrefix(args[0], "-psn_") { // -psn_: how old Finders start an app
		os.Exit(openApp())
	}
	os.Exit(command(args))
}

func openApp() int {
	if openDesktop == nil {
		fmt.Fprintln(os.Stderr, "clefbar: this build has no window; see clefbar --help for the command line")
		return exitFailed
	}
	return openDesktop()
}

// command runs a subcommand and returns its exit code. The first interrupt ends the
// command's context; a second one kills the process, as people expect.
func command(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && stdout.err != nil {
		err = fmt.Errorf("write the result: %w", stdout.err)
	}
	return report(os.Stderr, err)
}
