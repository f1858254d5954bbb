package models

import "bytes"

// impostor recognises what downloads leave behind under a model file's name and
// says what it is; "" means that nothing is known about it.
func impostor(data []byte) string {
	head := bytes.TrimLeft(data[:min(len(data), 512)], "\xef\xbb\xbf \t\r\n")
	lower := bytes.ToLower(head)
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return "this is a Git LFS pointer, not the file itself: fetch it with git lfs pull or download it again"
	case bytes.HasPrefix(lower, []byte("<!doctype")), bytes.HasPrefix(lower, []byte("<html")), bytes.HasPrefix(lower, []byte("<head")):
		return "this is a web page (HTML), not the file itself: download it again"
	case bytes.HasPrefix(lower, []byte("<?xml")):
		return "this is an XML answer of a server, not the file itself: download it again"
	case bytes.HasPrefix(head, []byte("GGUF")):
		return "this is a GGUF file: Clefbar reads safetensors"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "this is a zip archive (perhaps a PyTorch .bin file): Clefbar reads safetensors"
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "this file is gzip-compressed: unpack it first"
	}
	return ""
}
