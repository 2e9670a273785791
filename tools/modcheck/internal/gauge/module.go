package gauge

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/workspace"
)

// Modules reads how well the modules of the workspace agree.
func Modules(w workspace.Workspace) []Reading {
	unlisted, versions, replaces := w.Unlisted(), w.Versions(), w.Replaces()
	return []Reading{
		atMost(fmt.Sprintf("modules (%d) not in go.work, or the reverse", len(w.Modules)), 0, len(unlisted), unlisted),
		atMost(fmt.Sprintf("go.mod files with a Go version other than %s", w.Go), 0, len(versions), versions),
		atMost("relative replace lines missing or wrong", 0, len(replaces), replaces),
	}
}
