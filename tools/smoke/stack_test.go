package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// stack is what of a compose file is looked at.
type stack struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image string `yaml:"image"`
	Build struct {
		Context, Target string
		Args            map[string]string
	} `yaml:"build"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Profiles    []string          `yaml:"profiles"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	DependsOn   map[string]any    `yaml:"depends_on"`
}

// own tells whether the image is one of the suite's.
func (s service) own() bool { return s.Build.Args["BINARY"] != "" }

// variable is how the compose file names one of its environment, with or without a default.
var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?::-([^}]*))?\}`)

// expand puts defaults in for variables.
func expand(text string) string { return variable.ReplaceAllString(text, "$2") }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	return string(text)
}

func compose(t *testing.T) stack {
	t.Helper()
	var s stack
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "docker-compose.yml")), &s))
	require.NotEmpty(t, s.Services)
	return s
}

// build is a line of the Dockerfile that builds programs.
type build struct {
	module   string
	packages []string
}

var buildLine = regexp.MustCompile(`(?m)^ +&& build (\S+) ([^\\\n]+)`)

// builds returns what the Dockerfile builds.
func builds() ([]build, error) {
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		return nil, err
	}
	var found []build
	for _, line := range buildLine.FindAllStringSubmatch(string(text), -1) {
		found = append(found, build{module: line[1], packages: strings.Fields(line[2])})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the Dockerfile builds nothing that could be found")
	}
	return found, nil
}

func programs(t *testing.T) []string {
	t.Helper()
	built, err := builds()
	require.NoError(t, err)
	var names []string
	for _, one := range built {
		for _, path := range one.packages {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

func TestTheComposeFileIsForOldAndNewCompose(t *testing.T) {
	t.Parallel()
	var top map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "docker-compose.yml")), &top))
	for key := range top {
		known := key == "services" || key == "volumes" || strings.HasPrefix(key, "x-")
		require.True(t, known, "%s: docker-compose 1.29 refuses name, compose v2 warns of version", key)
	}
	known := []string{
		"image", "build", "environment", "ports", "volumes", "profiles", "read_only", "cap_drop", "security_opt",
		"depends_on", "restart", "stop_grace_period", "healthcheck", "command",
	}
	var services struct {
		Services map[string]map[string]any `yaml:"services"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "docker-compose.yml")), &services))
	for name, keys := range services.Services {
		for key := range keys {
			require.Contains(t, known, key, "%s of %s: is it known to docker-compose 1.29?", key, name)
		}
	}
	all := compose(t)
	for name, s := range all.Services {
		for other, condition := range s.DependsOn {
			require.Contains(t, all.Services, other, name)
			require.Equal(t, map[string]any{"condition": "service_healthy"}, condition, "%s: 1.29 knows no required", name)
			if away := all.Services[other].Profiles; len(away) > 0 {
				require.Equal(t, away, s.Profiles, "%s needs %s, which is there with another profile only", name, other)
			}
		}
	}
}

func TestNothingOfTheStackIsOpenToTheNetwork(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t).Services {
		for _, port := range s.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s publishes %s", name, port)
		}
		if s.own() {
			require.True(t, s.ReadOnly, name)
			require.Equal(t, []string{"ALL"}, s.CapDrop, name)
		}
	}
}

func TestWhatIsMountedIsThere(t *testing.T) {
	t.Parallel()
	s := compose(t)
	for name, one := range s.Services {
		for _, volume := range one.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if !strings.HasPrefix(from, "./") {
				require.Contains(t, s.Volumes, from, name)
				continue
			}
			require.FileExistsf(t, existing(t, from), "%s mounts %s", name, volume)
			require.True(t, strings.HasSuffix(volume, ":ro"), "%s may write to %s", name, from)
		}
	}
}

// existing returns a file at the path, or one in the directory that is there.
func existing(t *testing.T, path string) string {
	t.Helper()
	path = filepath.Join(root, filepath.FromSlash(path))
	entries, err := os.ReadDir(path)
	if err != nil {
		return path
	}
	require.NotEmpty(t, entries, path)
	require.NoError(t, filepath.WalkDir(path, func(at string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path = at
		}
		return err
	}))
	return path
}

func TestEveryVariableOfTheStackIsToldOf(t *testing.T) {
	t.Parallel()
	told := regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
	known := map[string]string{}
	for _, found := range told.FindAllStringSubmatch(read(t, ".env.example"), -1) {
		known[found[1]] = found[2]
	}
	profiles := map[string]bool{}
	for _, path := range []string{"deploy/compose/cluster.env", "deploy/compose/postgres.env"} {
		for _, found := range told.FindAllStringSubmatch(read(t, path), -1) {
			profiles[found[1]] = true
		}
	}
	used := map[string]bool{"COMPOSE_PROFILES": true}
	for _, found := range variable.FindAllStringSubmatch(read(t, "docker-compose.yml"), -1) {
		name, fallback := found[1], found[2]
		used[name] = true
		if profiles[name] {
			continue
		}
		require.Contains(t, known, name, ".env.example does not tell of it")
		require.Equal(t, known[name], fallback, "%s has another default in .env.example", name)
	}
	for name := range known {
		require.True(t, used[name], ".env.example tells of %s, which nothing uses", name)
	}
	for name := range profiles {
		require.True(t, used[name], "%s is set for a profile, and nothing uses it", name)
	}
	text := read(t, "docker-compose.yml")
	require.NotContains(t, variable.ReplaceAllString(strings.ReplaceAll(text, "$$", ""), ""), "$", "a variable that is written otherwise")
}

func TestEveryImageIsBuiltOfAProgramThatTheDockerfileKnows(t *testing.T) {
	t.Parallel()
	known := programs(t)
	for name, s := range compose(t).Services {
		if !s.own() {
			require.Empty(t, s.Build.Context, "%s builds no program", name)
			continue
		}
		binary := s.Build.Args["BINARY"]
		require.Contains(t, known, binary, name)
		require.Equal(t, "redis-stream-coordinator/"+binary+":dev", expand(s.Image), name)
		require.Equal(t, ".", s.Build.Context, name)
		require.Contains(t, []string{"", "program"}, s.Build.Target, name)
	}
	built, err := builds()
	require.NoError(t, err)
	text := read(t, "Dockerfile")
	for _, one := range built {
		require.Contains(t, text, "COPY "+one.module+"/go.mod "+one.module+"/go.sum ", "what it needs is downloaded before")
	}
}

func TestBothDockerfilesMakeTheSameImages(t *testing.T) {
	t.Parallel()
	final := func(path string) []string {
		_, text, found := strings.Cut(read(t, path), "\nFROM scratch AS program\n")
		require.True(t, found, path)
		lines := strings.Split(text, "\n")
		return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "COPY ") })
	}
	require.Equal(t, final("Dockerfile"), final("Dockerfile.prebuilt"))
	for _, path := range []string{"Dockerfile", "Dockerfile.prebuilt", "scripts/compose-smoke"} {
		require.Contains(t, read(t, path), "-trimpath -tags grpcnotrace ", "%s builds otherwise", path)
	}
	require.NotContains(t, read(t, "Dockerfile"), "# syntax=", "the builder without BuildKit takes it as well")
	require.NotContains(t, read(t, "Dockerfile"), "--mount", "the builder without BuildKit takes it as well")
}
