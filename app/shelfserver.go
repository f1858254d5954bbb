package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"clefbar/engine"
	"clefbar/engine/remote"
)

// listTime bounds how long a server may take to say what it offers.
const listTime = 15 * time.Second

// serverAddress is the address in the key of a server's model.
func serverAddress(key string) string {
	address, _, _ := strings.Cut(key, "#")
	return address
}

// AddServer implements ui.Shelf.
func (s *appShelf) AddServer(address, key string, done func(error)) {
	s.work.Go(func() {
		err := s.addServer(address, key)
		if err == nil {
			s.changed(address, nil)
		}
		done(err)
	})
}

func (s *appShelf) addServer(address, key string) error {
	d, err := remote.New(remote.Options{URL: address, Key: key, Timeout: listTime})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ends, 2*listTime)
	defer cancel()
	offered, err := d.Models(ctx)
	if err != nil {
		return err
	}
	keys := serverKeys(address, offered)
	if key != "" {
		if err := serverKey(address).Save(key); err != nil {
			return err
		}
	}
	return s.lib.change(s.ends, func(set *settings) {
		for _, k := range keys {
			if !slices.Contains(set.Servers, k) {
				set.Servers = append(set.Servers, k)
			}
		}
	})
}

// maxServerModels is how many models of one server are listed.
const maxServerModels = 32

// serverKeys makes the keys of a server's models. Names that stand for another one of its models are left out.
func serverKeys(address string, offered []engine.ModelInfo) (keys []string) {
	for _, m := range offered {
		if alias(m) || strings.ContainsAny(m.Name, "#\n\r") || len(m.Name) > 200 || len(keys) == maxServerModels {
			continue
		}
		if key := fmt.Sprintf("%s#%s", address, m.Name); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		keys = []string{address} // whatever it answers with
	}
	return keys
}

// alias tells a name that stands for another model: the official ones, and those that a Clefbar explains.
func alias(m engine.ModelInfo) bool {
	name := strings.ToLower(m.Name)
	return strings.HasPrefix(name, "jev-") || name == "clef-latest" || strings.HasPrefix(m.Description, "Answered by ")
}
