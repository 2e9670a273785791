package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Walk reads every Go file below root in the order of their paths. It leaves out what
// the go command leaves out (testdata, vendor, names that start with a dot or an
// underscore) and generated files. A file that does not parse is an error.
func Walk(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != root && ignored(entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, written, err := read(root, path)
		if err == nil && written {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("walk %s: %w", root, err)
	}
	return files, nil
}

func ignored(dir string) bool {
	return dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// read returns the file and whether a person wrote it.
func read(root, path string) (File, bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, false, err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return File{}, false, err
	}
	return Parse(filepath.ToSlash(relative), text)
}
