package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout bounds what a shell waits for while somebody types.
const completeTimeout = 2 * time.Second

// completing tells whether a shell asks what may be typed next.
func completing(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
}

// completions teaches every command below parent what its arguments and flags may be: STREAM
// and GROUP of its use line are names from the server.
func (s *session) completions(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		s.completions(cmd)
		if words := argumentsOf(cmd); len(words) > 0 && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
				names := slices.DeleteFunc(s.completeNext(cmd, words, given), func(name string) bool { return !strings.HasPrefix(name, begun) })
				return names, cobra.ShellCompDirectiveNoFileComp
			}
		}
		for flag, values := range flagValues() {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
			}
		}
	}
}

// flagValues are the flags that take one of a few words.
func flagValues() map[string][]string {
	return map[string][]string{
		"position": {"earliest", "latest"}, "sort": {sortIndex, sortLag}, "direction": {"backward", "forward"},
		"shard": {allShards},
	}
}

// argumentsOf are the arguments of a use line, as in STREAM and GROUP.
func argumentsOf(cmd *cobra.Command) []string {
	var words []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(word, "-") {
			break
		}
		words = append(words, strings.Trim(word, "[]"))
	}
	return words
}

// completeNext returns the names for the argument behind the given ones. Who cannot be asked
// in time has none: a shell shows no errors.
func (s *session) completeNext(cmd *cobra.Command, words, given []string) []cobra.Completion {
	if len(given) >= len(words) {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	if s.prepare(cmd) != nil {
		return nil
	}
	streams, err := s.admin.Streams(ctx)
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, stream := range streams {
		switch word := words[len(given)]; {
		case word == "STREAM":
			names = append(names, stream.StreamPrefix)
		case word == "GROUP" && stream.StreamPrefix == given[0]:
			names = append(names, stream.ConsumerGroups...)
		}
	}
	return names
}
