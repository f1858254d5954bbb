//go:build !linux

package endpoint

import (
	"context"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// holder asks lsof, which macOS brings, for the process that listens on addr. Its
// -F output has one field a line: p and the process, c and the command.
func holder(addr string) (name string, pid int) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "lsof", "-nP", "-iTCP:"+port, "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return "", 0
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "p") && pid == 0:
			pid, _ = strconv.Atoi(line[1:]) // 0 is "unknown"
		case strings.HasPrefix(line, "c") && name == "":
			name = line[1:]
		}
	}
	return name, pid
}
