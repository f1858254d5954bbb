//go:build desktop

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bars returns the values of the bars on the screen, top to bottom.
func bars(nodes []node) (values []float64) {
	for _, n := range nodes {
		if (n.kind == "bar" || n.kind == "lean") && n.value >= 0 {
			values = append(values, n.value)
		}
	}
	return values
}

// freePort writes settings with a port of our own, so that a Clefbar that runs here anyway does not matter.
func freePort(t *testing.T, dir string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	name := filepath.Join(dir, "config/clefbar/settings.json")
	os.MkdirAll(filepath.Dir(name), 0o700)
	if err := os.WriteFile(name, fmt.Appendf(nil, `{"endpoint":{"addr":"127.0.0.1:%d"}}`, port), 0o600); err != nil {
		t.Fatal(err)
	}
	return port
}

// TestFirstDecision is the whole product once: the real program opens with a sample and its bars; a person types a state, builds a
// question of each kind and reads the answers; the endpoint of the same process gives the same numbers; the menu of
// the tray says so and its clicks work; a crash loses nothing.
func TestFirstDecision(t *testing.T) {
	dir := t.TempDir()
	port := freePort(t, dir)
	tray := openPanel(t)
	s := openScreen(t, dir, "FYNE_THEME=light")
	s.focus() // a signal before the window is there would end the program
	s.until("the first bars", func(n []node) bool { return len(bars(n)) >= 6 })
	took := time.Since(s.start)
	t.Logf("from start to the first bars: %v", took.Round(10*time.Millisecond))
	if took > 8*time.Second {
		t.Errorf("from start to the first bars: %v", took)
	}
	tray.wait()

	s.key("ctrl+n")
	s.until("the empty page", func(n []node) bool { _, ok := find(n, "What should be decided?"); return ok })
	s.clickAt(150, 180)
	s.typed("Our checkout returns errors and orders are blocked.")
	s.click("Pick one")
	s.typed("Which team should handle it?")
	s.key("Return")
	s.typed("billing")
	s.key("Tab")
	s.typed("Payments or invoices")
	s.key("Return")
	s.typed("technical")
	s.key("Tab")
	s.typed("Bugs or outages")
	s.click("Question")
	s.click("Rate")
	s.typed("How urgent is it?")
	for _, level := range []string{"Can wait", "This week", "Today"} {
		s.key("Return")
		s.typed(level)
	}
	s.click("Question")
	s.click("Yes or no")
	s.typed("Is a service down?")
	s.key("Escape")
	s.key("ctrl+Return")
	nodes := s.until("the answers", func(n []node) bool {
		_, stale := find(n, "Updating")
		return len(bars(n)) == 6 && !stale
	})
	time.Sleep(400 * time.Millisecond) // bars glide for 150 ms
	nodes = s.look()
	shown := bars(nodes)
	if len(shown) != 6 {
		t.Fatalf("got bars %v, want 2 options, 3 levels and 1 yes-or-no", shown)
	}
	if pictures := os.Getenv("CLEFBAR_PICTURES"); pictures != "" {
		s.picture(filepath.Join(pictures, "first-decision.png"))
	}
	want := ask(t, port, `{"state":"Our checkout returns errors and orders are blocked.","questions":{
		"question_1":{"type":"choice","instructions":"Which team should handle it?","criteria":{"billing":"Payments or invoices","technical":"Bugs or outages"}},
		"question_2":{"type":"score","instructions":"How urgent is it?","criteria":["Can wait","This week","Today"]},
		"question_3":{"type":"noul","instructions":"Is a service down?"}}}`)
	for i, p := range want {
		if math.Abs(shown[i]-p) > 1e-4 {
			t.Errorf("bar %d shows %.4f, the endpoint says %.6f", i, shown[i], p)
		}
	}
	if want[1] < 0.5 || want[4] < 0.5 || want[5] < 0.5 {
		t.Errorf("got %v, want technical, Today and yes", want)
	}
	trayWorks(t, tray, s, port)
	comesBackAfterCrash(t, s, dir, shown)
}

// ask sends a request to the endpoint and returns the probabilities in the order of the bars.
func ask(t *testing.T, port int, body string) (p []float64) {
	t.Helper()
	resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/v1/systemone", port), "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", resp.Status, b)
	}
	var r struct {
		Answers map[string]struct {
			Noul          float64
			Probabilities map[string]float64
		}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	team, urgency := r.Answers["question_1"].Probabilities, r.Answers["question_2"].Probabilities
	return []float64{team["billing"], team["technical"], urgency["0"], urgency["1"], urgency["2"], r.Answers["question_3"].Noul}
}

// trayWorks reads the menu over D-Bus and clicks in it.
func trayWorks(t *testing.T, tray *panel, s *screen, port int) {
	t.Helper()
	menu, status := tray.entry("Etude · ready")
	var labels []string
	for _, e := range menu {
		if e.label != "" {
			labels = append(labels, e.label)
		}
	}
	for i, want := range []string{"Etude · ready", "Open Clefbar", "Decide Clipboard", "Model", "Unload", "Endpoint", "Recent", "Settings", "About", "Quit"} {
		if i >= len(labels) || !strings.HasPrefix(labels[i], want) {
			t.Errorf("the menu is %q, want %q as number %d", labels, want, i)
			break
		}
	}
	if status.enabled {
		t.Error("the status line can be clicked")
	}
	tray.click("On at :")
	s.until("the endpoint off", func(n []node) bool { _, ok := find(n, "Endpoint off"); return ok })
	if c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second); err == nil {
		c.Close()
		t.Error("the endpoint still listens after one click")
	}
	tray.click("On at :")
	s.until("the endpoint on", func(n []node) bool { _, ok := find(n, fmt.Sprintf("Endpoint on :%d", port)); return ok })
}

// comesBackAfterCrash kills the program and starts it again: the case is there, with its answers.
func comesBackAfterCrash(t *testing.T, s *screen, dir string, shown []float64) {
	t.Helper()
	time.Sleep(time.Second)
	s.kill()
	again := openScreen(t, dir, "FYNE_THEME=dark")
	again.focus()
	nodes := again.until("the case and its answers", func(n []node) bool { return len(bars(n)) == len(shown) })
	if _, ok := find(nodes, "Which team should handle it?"); !ok {
		t.Error("the question is gone")
	}
	if _, ok := find(nodes, "Our checkout returns errors and orders are blocked."); !ok {
		t.Error("the state is gone")
	}
	time.Sleep(400 * time.Millisecond)
	for i, v := range bars(again.look()) {
		if math.Abs(v-shown[i]) > 1e-4 {
			t.Errorf("bar %d shows %.4f after the crash, %.4f before", i, v, shown[i])
		}
	}
	if pictures := os.Getenv("CLEFBAR_PICTURES"); pictures != "" {
		again.picture(filepath.Join(pictures, "first-decision-dark.png"))
	}
	secondCopy(t, dir)
}

// secondCopy starts the program once more: it must bring the first forward and end by itself.
func secondCopy(t *testing.T, dir string) {
	t.Helper()
	other := openScreen(t, dir)
	done := make(chan error, 1)
	go func() { done <- other.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("the second copy ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the second copy did not end")
	}
}
