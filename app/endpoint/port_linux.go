package endpoint

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state of a socket in /proc/net/tcp (proc(5)).
const listening = "0A"

// holder returns the name and number of the process that listens on addr: the socket's
// inode from /proc/net/tcp, then the process that has it open. Processes of other
// users stay unknown.
func holder(addr string) (name string, pid int) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return "", 0
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if inode := listeningInode(table, n); inode != "" {
			return processWith("socket:[" + inode + "]")
		}
	}
	return "", 0
}

func listeningInode(table string, port int) string {
	f, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 10 || fields[3] != listening {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if p, err := strconv.ParseInt(hex, 16, 32); err == nil && int(p) == port {
			return fields[9]
		}
	}
	return ""
}

func processWith(socket string) (name string, pid int) {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err != nil || target != socket {
			continue
		}
		process := filepath.Dir(filepath.Dir(fd))
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			continue
		}
		comm, _ := os.ReadFile(filepath.Join(process, "comm")) // gone already: no name
		return strings.TrimSpace(string(comm)), pid
	}
	return "", 0
}
