package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Unlisted returns what go.work and the tree do not agree on: modules that go.work
// does not list, and listed directories without a module.
func (w Workspace) Unlisted() []string {
	var faults, dirs []string
	for _, module := range w.Modules {
		dirs = append(dirs, module.Dir)
		if !slices.Contains(w.Uses, module.Dir) {
			faults = append(faults, "go.work: does not list "+module.Dir)
		}
	}
	for _, use := range w.Uses {
		if !slices.Contains(dirs, use) {
			faults = append(faults, "go.work: lists "+use+", which has no go.mod")
		}
	}
	return faults
}

// Versions returns the go.mod files that name another Go version than go.work.
func (w Workspace) Versions() []string {
	var faults []string
	for _, module := range w.Modules {
		if module.Go != w.Go {
			faults = append(faults, fmt.Sprintf("%s/go.mod: go %s, go.work has %s", module.Dir, module.Go, w.Go))
		}
	}
	return faults
}

// Replaces returns the replace lines that are missing or lead elsewhere. A module
// needs one for each module of the workspace that it requires, also by way of others.
func (w Workspace) Replaces() []string {
	byPath := map[string]Module{}
	for _, module := range w.Modules {
		byPath[module.Path] = module
	}
	var faults []string
	for _, module := range w.Modules {
		for _, needed := range needs(module, byPath) {
			if fault := replaceFault(module, byPath[needed]); fault != "" {
				faults = append(faults, fmt.Sprintf("%s/go.mod: %s", module.Dir, fault))
			}
		}
	}
	return faults
}

// needs returns the workspace modules that a module requires, transitively and sorted.
func needs(module Module, byPath map[string]Module) []string {
	var found []string
	for queue := slices.Clone(module.Requires); len(queue) > 0; queue = queue[1:] {
		next, sibling := byPath[queue[0]]
		if !sibling || next.Path == module.Path || slices.Contains(found, next.Path) {
			continue
		}
		found = append(found, next.Path)
		queue = append(queue, next.Requires...)
	}
	slices.Sort(found)
	return found
}

func replaceFault(module, needed Module) string {
	target, ok := module.Replaces[needed.Path]
	switch {
	case !ok:
		return "no replace for " + needed.Path
	case !strings.HasPrefix(target, "."):
		return fmt.Sprintf("replace of %s is not relative: %s", needed.Path, target)
	case path.Join(module.Dir, target) != needed.Dir:
		return fmt.Sprintf("replace of %s leads to %s, the module is in %s", needed.Path, path.Join(module.Dir, target), needed.Dir)
	}
	return ""
}
