package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// testPrefix begins variables that only the project's tests read.
const testPrefix = envPrefix + "TEST_"

// fromEnvironment returns the settings of the variables.
func (l *loader) fromEnvironment() (map[string]any, []error) {
	values := map[string]any{}
	var problems []error
	variables := lookup(l.source.Environ)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, testPrefix) || serviceLink(name, variables[name]) {
			continue
		}
		key, value, err := l.variable(name, variables)
		switch {
		case err != nil:
			problems = append(problems, err)
		case key != "":
			values[key] = value
		}
	}
	return values, problems
}

// variable returns the key and value that a variable stands for; an empty key is one of
// another service.
func (l *loader) variable(name string, variables map[string]string) (key string, value any, err error) {
	for _, setting := range l.settings {
		if name == setting.env() && setting.table() {
			return "", nil, fmt.Errorf("%s cannot hold a list, put it into a file and its path into %s", name, setting.source())
		}
		if name == setting.env() {
			return setting.key, variables[name], nil
		}
		if name != setting.env()+fileSuffix {
			continue
		}
		if setting.table() {
			value, err = l.tableFile(setting, name, variables[name])
			return setting.key, value, err
		}
		if !setting.secret() {
			continue
		}
		if variables[setting.env()] != "" {
			return "", nil, fmt.Errorf("%s and %s are both set, use one", setting.env(), name)
		}
		data, err := os.ReadFile(variables[name])
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, err)
		}
		return setting.key, strings.TrimRight(string(data), "\r\n"), nil
	}
	for _, ignored := range l.source.Ignore {
		if env := (leaf{key: ignored}).env(); name == env || strings.HasPrefix(name, env+"_") {
			return "", nil, nil
		}
	}
	return "", nil, l.unknownVariable(name)
}

// serviceLink recognises the variables that Kubernetes makes of a service whose name begins
// with rsc: a service rsc-redis gives RSC_REDIS_PORT=tcp://….
func serviceLink(name, value string) bool {
	switch {
	case strings.HasSuffix(name, "_SERVICE_HOST"), strings.HasSuffix(name, "_SERVICE_PORT"),
		strings.Contains(name, "_SERVICE_PORT_"), strings.Contains(name, "_PORT_"):
		return true
	default:
		return strings.HasSuffix(name, "_PORT") && (strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://"))
	}
}

func lookup(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	return variables
}
