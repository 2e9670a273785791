// Package contractcheck keeps the compatibility data in testdata/contract what it is:
// vectors, shapes and metric names of the original public service, which other
// implementations rely on and nobody here may edit. Its tests compare every copy in the
// tree with the sums in SHA256SUMS.
package contractcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// SumsFile is the name of the file with the sums, in the format of sha256sum.
const SumsFile = "SHA256SUMS"

// Sums reads dir's SHA256SUMS and returns the sums in hexadecimal, keyed by file name.
func Sums(dir string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, SumsFile))
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok || len(sum) != sha256.Size*2 {
			return nil, fmt.Errorf("read sums: %q is not a line of sha256sum", line)
		}
		sums[name] = sum
	}
	return sums, nil
}

// Differences compares the files in dir with sums and returns one sentence for each
// file that is missing or another one.
func Differences(dir string, sums map[string]string) []string {
	var found []string
	for name, want := range sums {
		text, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err != nil:
			found = append(found, err.Error())
		case sum(text) != want:
			found = append(found, filepath.Join(dir, name)+" is not the file that "+SumsFile+" names")
		}
	}
	return found
}

// Copies finds the files below root that carry a name of sums, and maps each path to
// whether its content is right. Hidden directories are left out.
func Copies(root string, sums map[string]string) (map[string]bool, error) {
	copies := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		want, named := sums[entry.Name()]
		if !named || entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		copies[path] = sum(text) == want
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find copies: %w", err)
	}
	return copies, nil
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
