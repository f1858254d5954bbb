package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrokenSettings: a settings file that somebody has edited is never taken for another one, and the error says
// where it is wrong and what to do.
func TestBrokenSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	t.Setenv("CLEFBAR_SETTINGS_FOR_TEST", file)
	for content, want := range map[string]string{
		"":                                      "not JSON at byte 0",
		`{broken`:                               "not JSON at byte 2",
		`{"model":5}`:                           "model has a value of the wrong type, number",
		`{"endpoint":{"origins":"x"}}`:          "endpoint.origins has a value of the wrong type, string",
		`[]`:                                    "the document has a value of the wrong type, array",
		`{"limits":{"etude":1.5}}`:              "wrong type, number 1.5",
		`{"model":"etude"} {"model":"another"}`: "not JSON at byte 19",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := run(t, "", "decide", "--state", "x", "--noul", "a: b")
		if got.code == exitDone || got.out != "" || strings.Contains(got.err, "Go ") {
			t.Errorf("%s: got exit %d, %s%s; want a refusal in plain words", content, got.code, got.out, got.err)
		}
		for _, part := range []string{file, want, "move the file away"} {
			if !strings.Contains(got.err, part) {
				t.Errorf("%s: got %s, want …%s…", content, got.err, part)
			}
		}
	}
}
