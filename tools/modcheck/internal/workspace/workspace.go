// Package workspace checks what the modules of the workspace must agree on: one Go
// version, all of them listed in go.work, and relative replace lines, so that a module
// also builds without the workspace (GOWORK=off, container builds).
package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Module is what a go.mod file says.
type Module struct {
	// Dir is relative to the root, with slashes.
	Dir      string
	Path     string
	Go       string
	Requires []string // module paths
	// Replaces is keyed by module path; the value is the replacement as written.
	Replaces map[string]string
}

// Workspace is what go.work says, with the modules found in the tree.
type Workspace struct {
	Go string
	// Uses are the directories that go.work lists, relative to the root, sorted.
	Uses []string
	// Modules are those of the tree, in the order of their directories.
	Modules []Module
}

// Load reads go.work at root and every go.mod below it. It asks the go command to
// parse them.
func Load(ctx context.Context, root string) (Workspace, error) {
	var work struct {
		Go  string
		Use []struct{ DiskPath string }
	}
	if err := edit(ctx, &work, "work", filepath.Join(root, "go.work")); err != nil {
		return Workspace{}, err
	}
	found := Workspace{Go: work.Go}
	for _, use := range work.Use {
		found.Uses = append(found.Uses, filepath.ToSlash(filepath.Clean(use.DiskPath)))
	}
	slices.Sort(found.Uses)
	dirs, err := moduleDirs(root)
	if err != nil {
		return Workspace{}, err
	}
	for _, dir := range dirs {
		module, err := loadModule(ctx, root, dir)
		if err != nil {
			return Workspace{}, err
		}
		found.Modules = append(found.Modules, module)
	}
	return found, nil
}

func loadModule(ctx context.Context, root, dir string) (Module, error) {
	var mod struct {
		Go      string
		Module  struct{ Path string }
		Require []struct{ Path string }
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := edit(ctx, &mod, "mod", filepath.Join(root, dir, "go.mod")); err != nil {
		return Module{}, err
	}
	module := Module{Dir: filepath.ToSlash(dir), Path: mod.Module.Path, Go: mod.Go, Replaces: map[string]string{}}
	for _, require := range mod.Require {
		module.Requires = append(module.Requires, require.Path)
	}
	for _, replace := range mod.Replace {
		module.Replaces[replace.Old.Path] = replace.New.Path
	}
	return module, nil
}

// edit runs "go work edit -json" or "go mod edit -json" on a file.
func edit(ctx context.Context, into any, kind, file string) error {
	out, err := exec.CommandContext(ctx, "go", kind, "edit", "-json", file).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return fmt.Errorf("read %s: %w", file, err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// moduleDirs finds the directories with a go.mod, test data and hidden ones left out.
func moduleDirs(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if name != "go.mod" {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		dirs = append(dirs, dir)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find modules: %w", err)
	}
	return dirs, nil
}
