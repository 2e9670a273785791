package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// references replaces what the texts of a file say of the environment.
type references struct {
	environment map[string]string
	problems    []error
}

// expand returns a value of a file, whose key is given, with ${NAME} and ${NAME:default}
// replaced in all its texts, also those in lists and in settings by name. What refers to
// nothing is a problem and becomes nothing.
func (r *references) expand(key string, value any) any {
	switch given := value.(type) {
	case string:
		return r.text(key, given)
	case []any:
		expanded := make([]any, len(given))
		for i, item := range given {
			expanded[i] = r.expand(fmt.Sprintf("%s[%d]", key, i), item)
		}
		return expanded
	case map[string]any:
		expanded := make(map[string]any, len(given))
		for _, name := range slices.Sorted(maps.Keys(given)) {
			expanded[name] = r.expand(key+"."+name, given[name])
		}
		return expanded
	default:
		return value
	}
}

func (r *references) text(key, text string) string {
	reference := regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:[^}]*)?\}`)
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		name, fallback, hasFallback := strings.Cut(found[2:len(found)-1], ":")
		if value, set := r.environment[name]; set {
			return value
		}
		if !hasFallback {
			r.problems = append(r.problems, fmt.Errorf("%s refers to the variable %s, which is not set", key, name))
		}
		return fallback
	})
}

// withoutValues returns what a YAML parser says, with the places where it may repeat a value
// masked: a password that begins with a star is an unknown anchor to it.
func withoutValues(err error) string {
	quoted := regexp.MustCompile("(?s)`.*`|anchor '[^']*'")
	return quoted.ReplaceAllString(err.Error(), mask)
}
