package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAsFastAsCurl fetches one large file and lets curl fetch it from the same server in turns. Run it by hand:
//
//	CLEFBAR_SPEED_MB=5000 go test -v -run AsFastAsCurl -timeout 20m ./models/hub
func TestAsFastAsCurl(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("CLEFBAR_SPEED_MB"))
	if err != nil {
		t.Skip("set CLEFBAR_SPEED_MB to the size of the file to fetch")
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	size := int64(megabytes) << 20
	source, sum := largeFile(t, filepath.Join(dir, "source"), size)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"model.safetensors","size":%d,"blobId":%q,"lfs":{"sha256":%q,"size":%d}}]}`,
				commit, size, commit, sum, size)
			return
		}
		http.ServeFile(w, r, source)
	}))
	defer server.Close()
	c := New()
	c.Endpoint, c.Token, c.Offline = server.URL, "", false
	ours, theirs := make([]float64, 0, 3), make([]float64, 0, 3)
	for n := range 3 {
		start := time.Now()
		out, err := exec.Command(curl, "-s", "-o", filepath.Join(dir, "curl"), server.URL+"/owner/clef/resolve/"+commit+"/model.safetensors").CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v %s", err, out)
		}
		theirs = append(theirs, float64(megabytes)/time.Since(start).Seconds())
		os.Remove(filepath.Join(dir, "curl"))

		cache := Cache{filepath.Join(dir, strconv.Itoa(n))}
		r, err := c.Lookup(context.Background(), "owner/clef", "")
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		if _, err := c.Fetch(context.Background(), cache, r, nil); err != nil {
			t.Fatal(err)
		}
		ours = append(ours, float64(megabytes)/time.Since(start).Seconds())
		os.RemoveAll(cache.Dir)
	}
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if best := slices.Max(ours) / slices.Max(theirs); best < 0.8 {
		t.Errorf("the best run reaches %.2f of curl's, want 0.8", best)
	}
	if mem.HeapSys > 100<<20 {
		t.Errorf("the heap took %d MB, want less than 100", mem.HeapSys>>20)
	}
	t.Logf("MB/s: curl %.0f, ours %.0f; peak memory with the server %d MB, Go heap from the system %d MB", theirs, ours, use.Maxrss>>10, mem.HeapSys>>20)
}

func largeFile(t *testing.T, name string, size int64) (path, sum string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	block := bytesOf(9, 1<<20)
	for n := int64(0); n < size; n += int64(len(block)) {
		block[int(n>>20)%len(block)]++
		if _, err := io.MultiWriter(f, h).Write(block[:min(int64(len(block)), size-n)]); err != nil {
			t.Fatal(err)
		}
	}
	return name, hex.EncodeToString(h.Sum(nil))
}
