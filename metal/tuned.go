package metal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// tuned is a table as it is stored, with what it is valid for.
type tuned struct {
	Key   string `json:"key"`
	Table Table  `json:"table"`
}

// tuneKey says what a table is valid for: the GPU, the system's compiler and our kernels.
func tuneKey(i gpu.Info) string {
	return fmt.Sprintf("%s/%d/%s/%s", i.Architecture, i.Cores, i.OS, kernels.Hash())
}

// tunePath is where the table of this machine is kept.
func tunePath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for tuning results: %w", err)
	}
	return filepath.Join(dir, "clefbar", "metal-tuning.json"), nil
}

// SaveTable keeps a table for later starts on this machine.
func SaveTable(i gpu.Info, t *Table) error {
	path, err := tunePath()
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(tuned{tuneKey(i), *t}, "", "\t")
	if err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	return os.Rename(tmp, path)
}

// SavedTable returns the table that was kept for this GPU, system and build, nil if there
// is none that can be used.
func SavedTable(i gpu.Info) *Table {
	path, err := tunePath()
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var t tuned
	if json.Unmarshal(b, &t) != nil || t.Key != tuneKey(i) || len(t.Table.Rules) == 0 {
		return nil
	}
	for _, r := range slices.Concat(t.Table.Rules, t.Table.Dense) {
		if !r.known(i) {
			return nil
		}
	}
	return &t.Table
}
