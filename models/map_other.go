//go:build !unix

package models

import "os"

// mapFile reads the whole file where files cannot be mapped.
func mapFile(path, name string) (*blob, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &blob{name: name, data: data}, nil
}
