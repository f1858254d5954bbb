package main

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clefbar/app/probes"
	"clefbar/engine/tokenizer"
	"clefbar/models"
)

// openFiles opens a model's files: every header, shape and table is checked.
func openFiles(key string) (*models.Folder, error) {
	if key == etudeKey {
		return models.OpenFS(etudeFiles(), etudeKey)
	}
	return models.Open(key)
}

func describeFolder(f *models.Folder) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s, %d layers of width %d, a head of width %d", f.Layout, size(f.DiskBytes), f.Config.Layers(), f.Config.Hidden, f.Head.Width)
}

// spoken are texts that a tokenizer has to give back as they are.
var spoken = []string{
	"The lamp is on and the door is closed.", "Ünïcödé — naïve café", "日本語のテキスト 한국어 العربية", "👍🏽 👩‍👩‍👧 🇩🇪",
	"\t tabs\n\n  and   spaces  ", `{"json":[1.5e-07,"<b>"]}`, "x = f(y) // 12345",
}

func checkTokenizer(f *models.Folder) error {
	tok, err := tokenizer.Load(f.Tokenizer)
	if err != nil {
		return err
	}
	if tok.Size() > f.Config.Vocab {
		return fmt.Errorf("it has %d tokens, but the embedding table only %d rows", tok.Size(), f.Config.Vocab)
	}
	for _, text := range spoken {
		if got := tok.Decode(tok.Encode(nil, text, true)); got != text {
			return fmt.Errorf("%q comes back as %q", text, got)
		}
	}
	return nil
}

// hashes reads every file of a model once. Files of the Hub's cache are named by
// their hash, which has to be right; for the others there is nothing to compare with.
// It returns one hash for all weights.
func (c *common) hashes(ctx context.Context, key string) (weights, detail string, err error) {
	files := etudeFiles()
	if key != etudeKey {
		files = os.DirFS(key)
	}
	names, err := fs.Glob(files, "*.*")
	if err != nil {
		return "", "", err
	}
	slices.Sort(names)
	all := sha256.New()
	checked := 0
	for _, name := range names {
		c.progress("hashing %s", name)
		sum, err := hashFile(ctx, files, name, sha256.New())
		if err != nil {
			return "", "", err
		}
		if strings.HasSuffix(name, ".safetensors") {
			fmt.Fprintf(all, "%s %s\n", name, sum)
		}
		known, err := checkBlob(ctx, key, files, name, sum)
		if err != nil {
			return "", "", err
		}
		if known {
			checked++
		}
	}
	detail = fmt.Sprintf("%d files of the cache have the hash that they are named by", checked)
	if checked == 0 {
		detail = fmt.Sprintf("%d files could be read whole; nothing is published to compare them with", len(names))
	}
	return hex.EncodeToString(all.Sum(nil)), detail, nil
}

// checkBlob compares a file of the Hub's cache with the name of its blob: the SHA-256
// of a large file, git's SHA-1 of a small one.
func checkBlob(ctx context.Context, key string, files fs.FS, name, sum string) (known bool, err error) {
	target, err := filepath.EvalSymlinks(filepath.Join(key, name))
	if key == etudeKey || err != nil || filepath.Base(filepath.Dir(target)) != "blobs" {
		return false, nil
	}
	want, got := filepath.Base(target), sum
	if len(want) == 2*sha1.Size {
		info, err := os.Stat(target)
		if err != nil {
			return false, err
		}
		h := sha1.New()
		fmt.Fprintf(h, "blob %d\x00", info.Size())
		if got, err = hashFile(ctx, files, name, h); err != nil {
			return false, err
		}
	}
	if got != want {
		return false, fmt.Errorf("%s is damaged: its hash is %s, it should be %s; download it again", name, got, want)
	}
	return true, nil
}

// hashFile feeds a file to h, a piece at a time.
func hashFile(ctx context.Context, files fs.FS, name string, h hash.Hash) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
	}
	return "", ctx.Err()
}

func writeRecord(name string, r *probes.Record) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(name, append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}
