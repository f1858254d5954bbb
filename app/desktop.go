package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"clefbar/app/instance"
	"clefbar/app/worker"
	"clefbar/assets/samples"
	"clefbar/ui"
	"clefbar/ui/document"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"github.com/adrg/xdg"
)

// appID names the app to the system.
const appID = "app.clefbar"

func init() { openDesktop = runDesktop }

// desktopApp is the app: one window, one worker, one endpoint.
type desktopApp struct {
	app    fyne.App
	window *ui.Window
	worker *worker.Worker
	models *appModels
	shelf  *appShelf
	port   *appEndpoint
	cases  *document.Store
}

// runDesktop opens the window and returns when the app ends. A second copy brings the first one forward and ends.
func runDesktop() int {
	if !hasDisplay() {
		fmt.Fprintln(os.Stderr, "clefbar: there is no display here (DISPLAY is not set). The command line works without one:\n"+
			"  clefbar decide --help\n  clefbar serve")
		return exitFailed
	}
	forward := make(chan struct{}, 1)
	first, err := instance.First(runtimeDir(), func() {
		select {
		case forward <- struct{}{}:
		default:
		}
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "clefbar: %v\n", err)
		return exitFailed
	}
	if first == nil {
		fmt.Fprintln(os.Stderr, "clefbar: already running; its window is in front now")
		return exitDone
	}
	defer first.Close()
	d := newDesktop()
	go d.listen(forward)
	d.window.Show()
	d.app.Run()
	d.close()
	return exitDone
}

func newDesktop() *desktopApp {
	set, err := loadSettings()
	if err != nil {
		set = settings{}
		putAside(settingsFile(), err)
	}
	if len(set.OldKeys) > 0 {
		if err := changeSettings(func(s *settings) { set = *s }); err != nil {
			slog.Error("the keys of servers stay in the settings file", "err", err)
		}
	}
	look, firstRun := loadLook() // before anything is made: it tells a first start by what is missing
	d := &desktopApp{app: app.NewWithID(appID)}
	lib := newLibrary(set, howToRun{device: "auto", precision: "auto"})
	times := newPace(lib.how.device)
	d.worker = worker.New(lib, lib.chosen(), worker.Options{Ran: times.ran, Idle: idleTime(look)})
	d.models = newAppModels(lib, d.worker)
	d.shelf = newAppShelf(lib, d.worker, d.models, times)
	d.port = newAppEndpoint(lib, d.worker)
	d.cases, err = document.OpenStore(filepath.Join(xdg.StateHome, "clefbar", "cases"), func(err error) {
		slog.Error("the open case is not saved", "err", err)
	})
	if err != nil {
		slog.Error("cases are not kept", "err", err)
	}
	d.window = ui.New(d.app, ui.Deps{
		Engine: appEngine{d.worker}, Models: d.models, Endpoint: d.port, Requests: &d.port.requests, History: d.port.history, Settings: look, Save: d.saveLook, Shelf: d.shelf, Cases: d.cases,
		Samples: sampleCases(), Memory: footprint, Version: thisBuild().Version, Quit: d.app.Quit, FirstRun: firstRun,
	})
	d.setTray()
	d.models.Open(lib.chosen())
	d.port.start()
	return d
}

// listen brings the window forward when another copy asks, writes the tree when asked, and quits on a signal.
func (d *desktopApp) listen(forward <-chan struct{}) {
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	dump := make(chan os.Signal, 1)
	file := os.Getenv("CLEFBAR_TREE")
	if file != "" {
		signal.Notify(dump, syscall.SIGUSR1)
	}
	for {
		select {
		case <-forward:
			fyne.Do(d.window.Show)
		case <-dump:
			fyne.Do(func() { d.writeTree(file) })
		case <-end:
			signal.Stop(end)
			fyne.Do(d.app.Quit)
			return
		}
	}
}

// writeTree writes what the window shows to a file, for tests and for people who cannot see it (CLEFBAR_TREE and SIGUSR1).
func (d *desktopApp) writeTree(name string) {
	tmp := name + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(d.window.WriteTree(f), f.Close())
	}
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		slog.Error("write the tree of the window", "err", err)
	}
}

// close ends everything in order: what runs is stopped, the endpoint finishes its answers, the case is kept.
func (d *desktopApp) close() {
	d.shelf.close()
	d.models.close() // the window is gone: nothing may be told to it any more
	d.port.close()
	d.window.Close()
	d.models.Stop()
	d.port.stop()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	d.worker.Drain(ctx, 0)
	if d.cases != nil {
		if err := d.cases.Close(); err != nil {
			slog.Error("keep the open case", "err", err)
		}
	}
}

func sampleCases() (list []ui.Sample) {
	for _, s := range samples.All() {
		list = append(list, ui.Sample{Title: s.Title, Note: s.Subtitle, JSON: s.Request})
	}
	return list
}

// hasDisplay tells whether a window can be opened: GLFW ends the process when it cannot.
func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// runtimeDir is where the lock and the socket of the app are: the session's runtime folder, or our cache where there is
// none.
func runtimeDir() string {
	if st, err := os.Stat(xdg.RuntimeDir); err == nil && st.IsDir() {
		return filepath.Join(xdg.RuntimeDir, "clefbar")
	}
	return filepath.Join(xdg.CacheHome, "clefbar", "run")
}

// putAside keeps a file that cannot be read, so that the app can start and nothing is lost.
func putAside(name string, why error) {
	aside := name + ".unreadable"
	if err := os.Rename(name, aside); err == nil {
		slog.Warn("a file could not be read and was put aside", "file", aside, "err", why)
	}
}
