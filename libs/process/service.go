package process

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// Service is a binary whose flags are its settings, which it also takes from a file and the
// environment.
type Service[T config.Validator] struct {
	// Name is that of the binary, Short one line about it, Long what --help begins with:
	// what it does, and examples.
	Name, Short, Long string
	Defaults          T
	// Ignore names the sections of a file that other services read.
	Ignore []string
	// Aliases are short names of flags, by the alias.
	Aliases map[string]string
	// Listen returns the address of the settings where /readyz is answered, as host:port, which
	// --health asks. nil leaves the flag out: nobody asks this one for anything.
	Listen func(T) string
	// Logger makes the logger of the settings, which writes to the error stream.
	Logger func(T, Streams) *slog.Logger
	// Serve runs until ctx ends. load reads the settings again, from the same places.
	Serve func(ctx context.Context, cfg T, load func() (T, error), log *slog.Logger) error
}

// Command returns the service's command line.
func (s Service[T]) Command(streams Streams) *cobra.Command {
	var file string
	var printConfig, version, health bool
	root := &cobra.Command{Use: s.Name, Short: s.Short, Long: s.help(), Args: NoArguments}
	flags := root.Flags()
	flags.SortFlags = false
	flags.StringVar(&file, "config", "", "YAML file with settings")
	flags.BoolVar(&printConfig, "print-config", false, "print the settings that result, secrets masked, and end")
	flags.BoolVar(&version, "version", false, "print the version and end")
	if s.Listen != nil {
		flags.BoolVar(&health, "health", false, "ask the process that runs with these settings whether it is ready; 0 says yes, 1 no and why")
	}
	config.Flags(flags, s.Defaults)
	flags.SetNormalizeFunc(s.normal)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if version {
			build := settings.Build()
			fmt.Fprintf(streams.Out, "%s %s (commit %s, %s)\n", s.Name, build.Version, build.Commit, build.GoVersion)
			return nil
		}
		load := func() (T, error) {
			return config.Load(s.Defaults, config.Source{File: file, Environ: streams.Environ, Flags: flags, Ignore: s.Ignore})
		}
		cfg, err := load()
		if err != nil {
			return settingsError{err}
		}
		if printConfig {
			return config.Print(streams.Out, cfg)
		}
		if health {
			return Ready(cmd.Context(), s.Listen(cfg))
		}
		return s.Serve(cmd.Context(), cfg, load, s.Logger(cfg, streams))
	}
	return root
}

// normal lets aliases stand for flags.
func (s Service[T]) normal(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if full, is := s.Aliases[name]; is {
		name = full
	}
	return pflag.NormalizedName(name)
}

func (s Service[T]) help() string {
	var text strings.Builder
	text.WriteString(s.Long)
	fmt.Fprintf(&text, `

Each setting has four places, and the later one wins: the default, the YAML file
(coordinator.redis.host), the environment (RSC_REDIS_HOST), the flag (--redis-host).
Secrets have no flag. They come from the file, or from these variables; with _FILE behind
its name the variable holds the path of a file with the secret:
`)
	for _, secret := range config.Secrets(s.Defaults) {
		fmt.Fprintf(&text, "\n  %-30s %s", secret[0], secret[1])
	}
	refused := ""
	if s.Listen != nil {
		refused = "new work is answered 503 COORDINATOR_TERMINATING, "
	}
	fmt.Fprintf(&text, `

SIGTERM and SIGINT end it: %swork under way
finishes. It exits with 0 after that, 1 when it could not start or had to cut work off,
2 when the settings are wrong.`, refused)
	return text.String()
}
