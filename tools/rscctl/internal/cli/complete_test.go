package cli

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// offered is what a shell is told that may come next: the lines before the directive.
func offered(got outcome) []string {
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	return lines[:len(lines)-1]
}

func TestAShellIsToldTheNamesOfStreamsAndGroups(t *testing.T) {
	t.Parallel()
	mails := protocol.StreamResponse{StreamPrefix: "mails", ConsumerGroups: []string{"a", "b"}}
	for line, want := range map[string][]string{
		"__complete streams describe ''":        {"orders", "mails"},
		"__complete streams describe o":         {"orders"},
		"__complete lag mails ''":               {"a", "b"},
		"__complete lag unknown ''":             {},
		"__complete migrations watch ''":        {"orders", "mails"},
		"__complete migrations watch orders ''": {},
		"__complete streams scale orders ''":    {},
		"__complete streams list ''":            {},
		"__complete lag --sort ''":              {"index", "lag"},
		"__complete lag -o ''":                  {"table", "json", "yaml"},
		"__complete repair fence mails ''":      {"a", "b"},
	} {
		f := &fake{answers: answers{getStreams: {protocol.StreamsResponse{Streams: []protocol.StreamResponse{orders(), mails}}}}}
		got := inBubble(t.Context(), scene{}, f, line)
		require.Zero(t, got.code, line)
		require.ElementsMatch(t, want, offered(got), line)
	}
}

func TestACompletionThatCannotBeMadeIsSilentAndShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, f := range []*fake{{}, {answers: answers{getStreams: {refused{protocol.CodeUnauthorized, "who?"}}}}} {
			got := inBubble(t.Context(), scene{}, f, "__complete streams describe ''")
			require.Zero(t, got.code)
			require.Empty(t, offered(got))
			require.NotContains(t, got.err, "rscctl:")
		}
		for _, env := range []map[string]string{{"RSC_COORDINATOR": "ftp://x"}, {"RSC_TOKEN": "x\ny"}} {
			got := inBubble(t.Context(), scene{env: env}, &fake{}, "__complete streams describe ''")
			require.Zero(t, got.code)
			require.Empty(t, offered(got))
		}
	})
}

func TestEveryShellHasItsScript(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		f := &fake{}
		got := inBubble(t.Context(), scene{}, f, "completion "+shell)
		require.Zero(t, got.code, got.err)
		require.Contains(t, got.out, "__complete")
		require.Empty(t, f.asked)
	}
}
