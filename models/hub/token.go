package hub

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// home is the folder that Hugging Face tools keep things in: HF_HOME, else XDG_CACHE_HOME/huggingface, else
// ~/.cache/huggingface.
func home() string {
	if h := os.Getenv("HF_HOME"); h != "" {
		return h
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(userHome(), ".cache")
	}
	return filepath.Join(cache, "huggingface")
}

// userHome is the person's folder, also for a service that was started without HOME: models in whatever
// folder it happens to stand in would not be found again.
func userHome() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	return os.TempDir()
}

// token finds the person's access token where the Hub's own tools keep it.
func token() string {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if t := strings.TrimSpace(os.Getenv(name)); t != "" {
			return t
		}
	}
	file := os.Getenv("HF_TOKEN_PATH")
	if file == "" {
		file = filepath.Join(home(), "token")
	}
	b, err := os.ReadFile(file)
	if err != nil || len(b) > 4096 {
		return ""
	}
	return strings.TrimSpace(string(b))
}
