package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// writeOverlay writes the changed files below scratch and returns the file that tells the
// build to read them in place of those below root.
func writeOverlay(scratch, root string, changed map[string]string) (string, error) {
	replace := make(map[string]string, len(changed))
	for path, text := range changed {
		dir := filepath.Join(scratch, strconv.Itoa(len(replace)))
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return "", fmt.Errorf("make a scratch directory: %w", err)
		}
		place := filepath.Join(dir, filepath.Base(filepath.FromSlash(path)))
		if err := os.WriteFile(place, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write a changed file: %w", err)
		}
		replace[filepath.Join(root, filepath.FromSlash(path))] = place
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode the overlay: %w", err)
	}
	overlay := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return overlay, nil
}
