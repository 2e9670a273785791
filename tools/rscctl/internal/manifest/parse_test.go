package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
)

const whole = `# what there should be
prune: true
streams:
  - name: orders
    shardCount: 8
    initialPosition: latest
    groups:
      - name: billing
      - name: search
        initialPosition: earliest
  - {name: "eu:mails", shardCount: 1, groups: [{name: "1"}]}
`

func TestAFileSaysWhichStreamsThereShouldBe(t *testing.T) {
	t.Parallel()
	found, err := manifest.Parse("streams.yaml", []byte(whole))
	require.NoError(t, err)
	require.Equal(t, manifest.Manifest{Prune: true, Streams: []manifest.Stream{
		{Name: "orders", ShardCount: 8, Line: 4, Groups: []manifest.Group{{"billing", "latest"}, {"search", "earliest"}}},
		{Name: "eu:mails", ShardCount: 1, Line: 11, Groups: []manifest.Group{{"1", "earliest"}}},
	}}, found)
	found, err = manifest.Parse("streams.yaml", []byte("streams: []\n"))
	require.NoError(t, err)
	require.Equal(t, manifest.Manifest{}, found)
}

// one is a file with one stream, of which the lines after its name are given.
func one(lines ...string) string {
	return "streams:\n  - name: orders\n    " + strings.Join(lines, "\n    ") + "\n"
}

func TestWhatIsWrongIsToldWithFileLineAndKey(t *testing.T) {
	t.Parallel()
	const groups = "groups: [{name: g}]"
	for text, want := range map[string][]string{
		"":                               {"f: it is empty"},
		"# nothing\n":                    {"f: it is empty"},
		"---\n":                          {": the file is nothing; it has the keys streams, prune"},
		"- a\n":                          {"f:1: the file is a list; it has the keys streams, prune"},
		"prune: false\n":                 {`f:1: the key "streams" is missing`},
		"streams:\n":                     {"f:1: streams is nothing; it is a list"},
		"streams: 7\n":                   {`f:1: streams is "7"; it is a list`},
		"streams: []\nx: 1\n":            {`f:2: the file has no key "x"`},
		"streams: []\n1: 1\n":            {`f:2: the file has no key "1"`},
		"a: [\n":                         {"f:", "this is no YAML"},
		"streams:\n\t- a\n":              {"f:2: this is no YAML"},
		"streams: []\n---\na:":           {"f:2: a second document"},
		"streams: []\nstreams: []\n":     {`f:2: the key "streams" is there twice, first in line 1`},
		"prune: yes\nstreams: []\n":      {`f:1: prune is "yes"; it is true or false`},
		"prune: \"true\"\nstreams: []\n": {`f:1: prune is "true"; it is true or false`},
		"prune:\nstreams: []\n":          {"f:1: prune is nothing"},
		"streams: [orders]\n":            {`f:1: a stream is "orders"`},
		one("shardCount: 4", groups, "shards: 4"):     {`f:5: a stream has no key "shards"; it has the keys name, shardCount, initialPosition, groups`},
		one("shardCount: 4", groups, "shardCount: 4"): {`f:5: the key "shardCount" is there twice, first in line 3`},
		one(groups):                                                                {`f:2: a stream has no key "shardCount"`},
		one("shardCount: 4"):                                                       {`f:2: a stream has no key "groups"`},
		one("shardCount: 4", "groups: []"):                                         {"f:4: groups is empty"},
		one("shardCount: 4", "groups: {a: b}"):                                     {"f:4: groups is a mapping; it is a list"},
		one("shardCount: 4", "groups: [g]"):                                        {`f:4: a group is "g"`},
		one("shardCount: 4", "groups: [{}]"):                                       {`f:4: a group has no key "name"`},
		one("shardCount: 4", "groups: [{name: 7}]"):                                {`f:4: name is "7"; it is a text`},
		one("shardCount: 4", "groups: [{name: a:b}]"):                              {"f:4: name: invalid name"},
		one("shardCount: 4", "groups: [{name: g}, {name: g}]"):                     {`f:4: group "g" is there twice, first in line 4`},
		one("shardCount: 4", "groups: [{name: g, initialPosition: newest}]"):       {`f:4: initialPosition is "newest"; it is earliest or latest`},
		one("shardCount: 4", "groups: [{name: g, initialPosition: [latest]}]"):     {"f:4: initialPosition is a list"},
		one("shardCount: 0", groups):                                               {`f:3: shardCount is "0"`},
		one("shardCount: -1", groups):                                              {`f:3: shardCount is "-1"`},
		one("shardCount: 010", groups):                                             {`f:3: shardCount is "010"`},
		one("shardCount: 0x10", groups):                                            {`f:3: shardCount is "0x10"`},
		one("shardCount: 1_000", groups):                                           {`f:3: shardCount is "1_000"`},
		one("shardCount: 4.0", groups):                                             {`f:3: shardCount is "4.0"; it is a number`},
		one(`shardCount: "4"`, groups):                                             {`f:3: shardCount is "4"; it is a number`},
		one("shardCount: 99999999999999999999", groups):                            {"f:3: shardCount is"},
		"streams:\n  - {name: a/b, shardCount: 1, groups: [{name: g}]}\n":          {"f:2: name: invalid name"},
		"streams:\n  - {name: , shardCount: 1, groups: [{name: g}]}\n":             {"f:2: name is nothing; it is a text"},
		"streams:\n  - {shardCount: 1, groups: [{name: g}]}\n":                     {`f:2: a stream has no key "name"`},
		"streams:\n  - &a {name: a, shardCount: 1, groups: [{name: g}]}\n  - *a\n": {"f:3: a stream is an alias"},
		"streams:\n  - {name: a, shardCount: 1, groups: [{name: g}]}\n  - {name: a, shardCount: 2, groups: [{name: h}]}\n": {
			`f:3: stream "a" is there twice, first in line 2`,
		},
		one("shardCount: x", "groups: [{nome: g}]"): {"f:3: shardCount", "f:4: a group has no key \"nome\"", "f:4: a group has no key \"name\""},
	} {
		_, err := manifest.Parse("f", []byte(text))
		wrong, ok := errors.AsType[*manifest.Error](err)
		require.True(t, ok, "%q is taken: %v", text, err)
		for _, part := range want {
			require.Contains(t, wrong.Error(), part, text)
		}
	}
}

func TestAHugeFileIsRefused(t *testing.T) {
	t.Parallel()
	_, err := manifest.Parse("f", make([]byte, manifest.MaxSize+1))
	require.ErrorContains(t, err, "it has more than")
}

func TestNoTextBreaksTheReader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(whole)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			what := rapid.SampledFrom([]string{"\n", ":", "-", "[", "]", "{", "}", "&a", "*a", "\"", "'", "!!int", "\t", "\x00", "|", "#", "<<: "}).Draw(t, "what")
			text = append(text[:at:at], append([]byte(what), text[at:]...)...)
		}
		found, err := manifest.Parse("f", text)
		if err != nil {
			require.ErrorAs(t, err, new(*manifest.Error))
			require.Equal(t, manifest.Manifest{}, found)
		}
	})
}
