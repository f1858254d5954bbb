//go:build desktop

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// screen is the real program on a real (virtual) display: keys and clicks go in through X, what it shows
// comes out as the tree of its window and as pictures.
type screen struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string
	tree  string
	scale float64 // pixels a dp
	start time.Time
	log   *os.File
}

// node is one line of the tree.
type node struct {
	kind       string
	x, y, w, h float64
	text       string
	value      float64 // -1: none
	depth      int
}

var nodeLine = regexp.MustCompile(`^( *)(\w+) (-?\d+),(-?\d+) (-?\d+)x(-?\d+)(?: (".*"))?(?: value=([\d.]+))?$`)

// openScreen starts the program that CLEFBAR_BIN names, with folders of its own. scripts/desktop.sh gives it a display and
// a session bus.
func openScreen(t *testing.T, dir string, env ...string) *screen {
	t.Helper()
	bin := os.Getenv("CLEFBAR_BIN")
	if bin == "" || os.Getenv("DISPLAY") == "" {
		t.Skip("run scripts/desktop.sh: it builds the program and starts a display")
	}
	s := &screen{t: t, dir: dir, tree: filepath.Join(dir, "tree"), scale: 1}
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "FYNE_SCALE="); ok {
			s.scale, _ = strconv.ParseFloat(v, 64)
		}
	}
	run := filepath.Join(dir, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(bin)
	s.cmd.Stderr = s.log
	s.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir+"/config", "XDG_STATE_HOME="+dir+"/state", "XDG_DATA_HOME="+dir+"/data",
		"XDG_RUNTIME_DIR="+run, "CLEFBAR_SETTINGS="+dir+"/config/clefbar/settings.json", "CLEFBAR_TREE="+s.tree, "LANG=en_US.UTF-8")
	s.cmd.Env = append(s.cmd.Env, env...)
	s.start = time.Now()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// close ends the program as a session does and looks at what it said.
func (s *screen) close() {
	if s.cmd.ProcessState != nil {
		return
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			s.t.Errorf("the program ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		s.cmd.Process.Signal(syscall.SIGQUIT)
		<-done
		said, _ := os.ReadFile(s.log.Name())
		s.t.Errorf("the program did not end within 15 s of SIGTERM:\n%s", said)
	}
	said, _ := os.ReadFile(s.log.Name())
	for _, bad := range []string{"Error in Fyne call thread", "panic", "DATA RACE"} {
		if strings.Contains(string(said), bad) {
			s.t.Errorf("the program said %q:\n%s", bad, said)
		}
	}
}

// kill ends the program as a crash does.
func (s *screen) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// look asks for the tree and reads it.
func (s *screen) look() []node {
	os.Remove(s.tree)
	s.cmd.Process.Signal(syscall.SIGUSR1)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(s.tree); err == nil {
			return parseTree(string(b))
		}
	}
	s.t.Fatal("the window does not answer")
	return nil
}

func parseTree(text string) (nodes []node) {
	for line := range strings.Lines(text) {
		m := nodeLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		n := node{kind: m[2], depth: len(m[1]), value: -1}
		for i, p := range []*float64{&n.x, &n.y, &n.w, &n.h} {
			*p, _ = strconv.ParseFloat(m[3+i], 64)
		}
		if m[7] != "" {
			n.text, _ = strconv.Unquote(m[7])
		}
		if m[8] != "" {
			n.value, _ = strconv.ParseFloat(m[8], 64)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// until looks again and again until ok says yes.
func (s *screen) until(what string, ok func([]node) bool) []node {
	s.t.Helper()
	var nodes []node
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if nodes = s.look(); ok(nodes) {
			return nodes
		}
	}
	s.picture(filepath.Join(s.dir, "failed.png"))
	for _, n := range nodes {
		if n.text != "" {
			s.t.Logf("%s %q", n.kind, n.text)
		}
	}
	s.t.Fatalf("the window never showed %s", what)
	return nil
}

// find returns the last visible text that is exactly this: what lies on top comes last.
func find(nodes []node, text string) (node, bool) {
	for i := len(nodes) - 1; i >= 0; i-- {
		if nodes[i].text == text && nodes[i].w > 0 {
			return nodes[i], true
		}
	}
	return node{}, false
}

// click presses on a text once it is there.
func (s *screen) click(text string) {
	s.t.Helper()
	var at node
	s.until(fmt.Sprintf("%q", text), func(n []node) (ok bool) { at, ok = find(n, text); return ok })
	s.clickAt(at.x+at.w/2, at.y+at.h/2)
}

func (s *screen) clickAt(x, y float64) { s.press("1", x, y) }

// press clicks with a button of the mouse.
func (s *screen) press(button string, x, y float64) {
	s.x("mousemove", strconv.Itoa(int(x*s.scale)), strconv.Itoa(int(y*s.scale)), "click", button)
	time.Sleep(250 * time.Millisecond)
}

// menuOf opens the menu of the row that a text stands in.
func (s *screen) menuOf(text string) {
	s.t.Helper()
	var at node
	s.until(fmt.Sprintf("%q", text), func(n []node) (ok bool) { at, ok = find(n, text); return ok })
	s.press("3", at.x+at.w/2, at.y+at.h/2)
}

func (s *screen) typed(text string) {
	s.x("type", "--delay", "15", text)
	time.Sleep(150 * time.Millisecond)
}

func (s *screen) key(names ...string) {
	s.x(append([]string{"key"}, names...)...)
	time.Sleep(150 * time.Millisecond)
}

// x runs xdotool.
func (s *screen) x(args ...string) {
	s.t.Helper()
	if out, err := exec.Command("xdotool", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("xdotool %v: %v %s", args, err, out)
	}
}

// focus gives the keyboard to the window: without a window manager nobody else does.
func (s *screen) focus() {
	s.t.Helper()
	out, err := exec.Command("xdotool", "search", "--sync", "--onlyvisible", "--pid", strconv.Itoa(s.cmd.Process.Pid), "--name", ".").Output()
	ids := strings.Fields(string(out))
	if err != nil || len(ids) == 0 {
		s.t.Fatalf("there is no window: %v", err)
	}
	s.x("windowfocus", "--sync", ids[len(ids)-1])
}

// picture saves what the display shows, cut to the window.
func (s *screen) picture(name string) {
	size := fmt.Sprintf("%dx%d+0+0", int(1180*s.scale), int(732*s.scale))
	if out, err := exec.Command("import", "-window", "root", "-crop", size, "+repage", "+dither", "-colors", "256", "-define", "png:compression-level=9", "-define", "png:compression-filter=0", "PNG8:"+name).CombinedOutput(); err != nil {
		s.t.Errorf("import: %v %s", err, out)
	}
}
