package mutation

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// ErrUnknown comes when no mutation of that id is there.
var ErrUnknown = errors.New("no such mutation")

// Load reads all mutations of a directory, in the order of their numbers. They are numbered
// from MUT01 on without a gap, each in the file of its name.
func Load(dir fs.FS) ([]Mutation, error) {
	names, err := fs.Glob(dir, "*.txt")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	all := make([]Mutation, 0, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("read a mutation: %w", err)
		}
		m, err := Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if want := fmt.Sprintf("MUT%02d", i+1); m.ID != want || name != want+".txt" {
			return nil, fmt.Errorf("%w: %s holds %s where %s is expected", ErrFormat, name, m.ID, want)
		}
		all = append(all, m)
	}
	return all, nil
}

// Named picks mutations by their ids.
func Named(all []Mutation, ids []string) ([]Mutation, error) {
	picked := make([]Mutation, 0, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(all, func(m Mutation) bool { return m.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}
