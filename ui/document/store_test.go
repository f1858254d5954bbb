package document

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/engine"
)

func mustStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := OpenStore(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// picture is a PNG of noise, so that it does not compress away.
func picture(t *testing.T, seed byte) []byte {
	t.Helper()
	im := image.NewGray(image.Rect(0, 0, 96, 96))
	v := uint32(seed) + 1
	for i := range im.Pix {
		v = v*1664525 + 1013904223
		im.Pix[i] = byte(v >> 24)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCaseFileRoundTrip(t *testing.T) {
	c := mustCase(t, kitchen)
	c.SetTitle("Küche <1>")
	q := key(t, c, "team")
	c.SetKind(q, engine.Score)
	c.SetDescription(q, c.Questions()[0].Options[0].Key, "Kept \"level\"")
	c.SetKind(q, engine.Choice)
	c.Attach("a.log", "one\ntwo")
	c.Attach("b.log", "")
	if _, err := c.AddImage("shot.png", picture(t, 1)); err != nil {
		t.Fatal(err)
	}
	c.Dismiss(c.Advice()[0])
	path := filepath.Join(t.TempDir(), "x"+Extension)
	if err := c.Save(path); err != nil || c.Edited() || c.FilePath() != path {
		t.Fatalf("save: %v, edited %v, file %s", err, c.Edited(), c.FilePath())
	}
	d, err := FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(d.JSON()) != string(c.JSON()) {
		t.Errorf("got %s, want %s", d.JSON(), c.JSON())
	}
	if d.Title() != "Küche <1>" || fmt.Sprint(shown(d)) != shown(c) || d.Images()[0].Name != "shot.png" || d.Edited() {
		t.Errorf("got %q %q %v", d.Title(), shown(d), d.Images()[0].Name)
	}
	if st := d.State(); st.Text != c.State().Text || len(st.Attachments) != 2 || st.Attachments[0].Name != "a.log" || st.Attachments[0].Text != "one\ntwo" {
		t.Errorf("got %+v", st)
	}
	if got, want := len(d.Advice()), len(c.Advice()); got != want {
		t.Errorf("got %d pieces of advice, want %d", got, want)
	}
	d.SetKind(key(t, d, "team"), engine.Score)
	if got := d.Questions()[0].Options[0].Description.Text; got != "Kept \"level\"" {
		t.Errorf("kept level: got %q", got)
	}
	data, _ := os.ReadFile(path)
	if _, err := engine.ParseRequest(data, engine.Limits{}); err != nil {
		t.Errorf("a client cannot send the file as it is: %v", err)
	}
}

func TestFileNamesTheCase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "Night shift.json")
	if err := os.WriteFile(path, []byte(kitchen), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := FromFile(path); err != nil || c.Title() != "Night shift" {
		t.Errorf("got %v, want the file's name", err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(path); engine.ReasonOf(err) != engine.Invalid || !strings.Contains(err.Error(), "Night shift.json is not a case: line 1") {
		t.Errorf("got %v", err)
	}
	if err := New().Save(filepath.Join(dir, "no", "such", "folder.json")); err == nil {
		t.Error("saving into nowhere succeeded")
	}
}

func TestSavingKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here: ", err)
	}
	c := mustCase(t, kitchen)
	if err := c.Save(link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is a file now: %v %v", info.Mode(), err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 || info.Size() < int64(len(kitchen)) {
		t.Errorf("the file: %v %v", info, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestStoreBringsTheOpenCaseBack(t *testing.T) {
	dir := t.TempDir()
	s := mustStore(t, dir)
	if c, aside := s.Restore(); c != nil || len(aside) > 0 {
		t.Fatalf("a new store restores %v %v", c, aside)
	}
	c := New()
	s.Keep(c)
	c.SetText("typed")
	for i := range 2 {
		if _, err := c.AddImage("p.png", picture(t, byte(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if stored, _ := os.ReadFile(s.casePath(s.id)); len(stored) > 1000 {
		t.Errorf("pictures are written with every change: %d bytes", len(stored))
	}
	s = mustStore(t, dir)
	d, aside := s.Restore()
	if d == nil || len(aside) > 0 || string(d.JSON()) != string(c.JSON()) {
		t.Fatalf("got %v, put aside %v", d, aside)
	}
	d.RemoveImage(d.Images()[0].Key)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if blobs, _ := os.ReadDir(filepath.Join(dir, "blobs")); len(blobs) != 1 {
		t.Errorf("%d pictures are kept, want 1", len(blobs))
	}
}

func TestRecentCases(t *testing.T) {
	s := mustStore(t, t.TempDir())
	defer s.Close()
	a, b, sample := New(), New(), New()
	sample.SetText("untouched sample")
	sample.sample, sample.saved = true, sample.now
	s.Keep(a)
	a.SetText("first case")
	s.Keep(New()) // nothing in it: not worth a line
	s.Keep(sample)
	s.Keep(b)
	b.SetTitle("Second")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	recent := s.Recent(5)
	if len(recent) != 1 || recent[0].Title != "first case" {
		t.Fatalf("got %+v, want the first case", recent)
	}
	c, err := s.OpenRecent(recent[0].ID)
	if err != nil || c.State().Text != "first case" {
		t.Fatalf("got %v %v", c, err)
	}
	c.SetText("first case, more")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if recent := s.Recent(5); len(recent) != 1 || recent[0].Title != "Second" {
		t.Errorf("got %+v, want the second case", recent)
	}
	if _, err := s.OpenRecent("../session"); err == nil {
		t.Error("a path was opened as a case")
	}
}

func TestUntouchedSampleIsForgottenLater(t *testing.T) {
	dir := t.TempDir()
	s := mustStore(t, dir)
	c, err := FromSample("Ticket", []byte(kitchen))
	if err != nil {
		t.Fatal(err)
	}
	s.Keep(c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustStore(t, dir)
	defer s.Close()
	if c, _ := s.Restore(); c == nil || c.Title() != "Ticket" || c.Edited() {
		t.Fatalf("got %v", c)
	}
	s.Keep(New())
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if recent := s.Recent(5); len(recent) != 0 {
		t.Errorf("an untouched sample is listed: %+v", recent)
	}
}

func TestDamagedFilesArePutAside(t *testing.T) {
	dir := t.TempDir()
	s := mustStore(t, dir)
	c := New()
	c.SetText("x")
	s.Keep(c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(s.casePath(s.id))
	if err := os.WriteFile(s.casePath(s.id), whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustStore(t, dir)
	got, aside := s.Restore()
	if got != nil || len(aside) != 1 || !strings.Contains(aside[0], ".damaged-") || !exists(aside[0]) {
		t.Errorf("got %v, put aside %v", got, aside)
	}
	c = New()
	c.SetText("y")
	s.Keep(c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.indexPath(), []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustStore(t, dir)
	defer s.Close()
	if got, aside := s.Restore(); got == nil || got.State().Text != "y" || len(aside) != 1 {
		t.Errorf("without an index: got %v, put aside %v", got, aside)
	}
}

func TestSavingIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	failed := make(chan error, 9)
	s, err := OpenStore(dir, func(err error) { failed <- err })
	if err != nil {
		t.Fatal(err)
	}
	cases := filepath.Join(dir, "cases")
	if err := os.Rename(cases, cases+"x"); err != nil {
		t.Fatal(err)
	}
	c := New()
	s.Keep(c)
	c.SetText("x")
	select {
	case <-failed:
	case <-time.After(5 * time.Second):
		t.Fatal("nobody was told that saving fails")
	}
	if err := os.Rename(cases+"x", cases); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustStore(t, dir)
	defer s.Close()
	if got, _ := s.Restore(); got == nil || got.State().Text != "x" {
		t.Errorf("got %v", got)
	}
}

// TestTyping is the process that TestKilledWhileTyping kills: it types numbers and
// says which it has typed.
func TestTyping(t *testing.T) {
	dir := os.Getenv("CLEFBAR_TYPING")
	if dir == "" {
		t.Skip("runs inside TestKilledWhileTyping only")
	}
	s := mustStore(t, dir)
	c, _ := s.Restore()
	if c == nil {
		c = New()
		s.Keep(c)
	}
	for i := 0; ; i++ {
		c.SetText(fmt.Sprintf("%d %d", time.Now().UnixMilli(), i))
		fmt.Println(c.State().Text)
		time.Sleep(3 * time.Millisecond)
	}
}

func TestKilledWhileTyping(t *testing.T) {
	dir := t.TempDir()
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTyping$")
		cmd.Env = append(os.Environ(), "CLEFBAR_TYPING="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(700+round*37)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		var first, last int64
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var ms int64
			if n, _ := fmt.Sscan(lines.Text(), &ms); n == 1 {
				last = ms
				if first == 0 {
					first = ms
				}
			}
		}
		_ = cmd.Wait()
		s := mustStore(t, dir)
		c, aside := s.Restore()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if c == nil || len(aside) > 0 {
			t.Fatalf("round %d: restored %v, put aside %v", round, c, aside)
		}
		var kept int64
		if _, err := fmt.Sscan(c.State().Text, &kept); err != nil {
			t.Fatalf("round %d: restored %q", round, c.State().Text)
		}
		// 300 ms is the promise; the rest is the load of a test machine.
		if lost := last - kept; lost > 300+700 || kept < first {
			t.Errorf("round %d: %d ms of typing were lost", round, lost)
		}
	}
}
