package config

import (
	"fmt"
	"slices"
	"strings"
)

// isSection reports whether settings lie below key.
func (l *loader) isSection(key string) bool {
	for _, setting := range l.settings {
		if strings.HasPrefix(setting.key, key+".") {
			return true
		}
	}
	return false
}

// foreign reports whether a key lies in a section of another service.
func (l *loader) foreign(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return slices.Contains(l.source.Ignore, section)
}

// unknown refuses a key that is shown as written and compared as key.
func (l *loader) unknown(written, key string) error {
	var known []string
	for _, setting := range l.settings {
		for section := setting.key; section != ""; section = section[:max(0, strings.LastIndexByte(section, '.'))] {
			known = append(known, section)
		}
	}
	return fmt.Errorf("%s is not a known key, the nearest is %s.%s", written, root, nearest(key, known))
}

// unknownVariable refuses a variable.
func (l *loader) unknownVariable(name string) error {
	known := make([]string, len(l.settings))
	for i, setting := range l.settings {
		known[i] = setting.source()
	}
	return fmt.Errorf("the variable %s stands for no known key, the nearest is %s", name, nearest(name, known))
}

// nearest returns the first of the known names that differ least from name.
func nearest(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is how many bytes must be put in, taken out or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := corner
			if a[i] != b[j] {
				changed++
			}
			corner = row[j+1]
			row[j+1] = min(changed, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
