package codec_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// groupFiles are the golden groups of schema 1. A released file is never changed: a
// record that a coordinator wrote then must be readable now (storage, Versions).
func groupFiles() []string {
	return []string{"group-new.json", "group-handoff.json", "group-round.json", "group-drain.json"}
}

// streamFiles are the golden streams of schema 1.
func streamFiles() []string { return []string{"stream.json", "stream-drain.json"} }

func golden(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "schema1", name))
	require.NoError(tb, err)
	return bytes.TrimSuffix(data, []byte("\n"))
}

func encoded(tb testing.TB, g *group.Group) []byte {
	tb.Helper()
	data, err := codec.EncodeGroup(1, g)
	require.NoError(tb, err)
	return data
}

func TestGoldenGroupsAreReadAndWrittenByteForByte(t *testing.T) {
	t.Parallel()
	for _, name := range groupFiles() {
		data := golden(t, name)
		g, err := codec.DecodeGroup(1, data)
		require.NoError(t, err, name)
		require.Equal(t, string(data), string(encoded(t, g)), name)
	}
}

func TestGoldenStreamsAreReadAndWrittenByteForByte(t *testing.T) {
	t.Parallel()
	for _, name := range streamFiles() {
		data := golden(t, name)
		s, err := codec.DecodeStream(1, data)
		require.NoError(t, err, name)
		again, err := codec.EncodeStream(1, s)
		require.NoError(t, err, name)
		require.Equal(t, string(data), string(again), name)
	}
}

// TestGoldenFilesUseEveryField keeps a field from being added without a golden record
// that carries it.
func TestGoldenFilesUseEveryField(t *testing.T) {
	t.Parallel()
	used, all := map[string]bool{}, map[string]bool{}
	states := map[string]bool{}
	for _, name := range groupFiles() {
		g, err := codec.DecodeGroup(1, golden(t, name))
		require.NoError(t, err)
		for _, m := range g.Members {
			states[string(m.State)] = true
		}
		fields(reflect.ValueOf(g), used)
	}
	for _, name := range streamFiles() {
		s, err := codec.DecodeStream(1, golden(t, name))
		require.NoError(t, err)
		fields(reflect.ValueOf(s), used)
	}
	for _, record := range []any{
		group.Group{},
		group.Round{},
		group.Hold{},
		group.Member{},
		stream.Stream{},
		stream.Group{},
		stream.Resharding{},
		stream.Removed{},
		stream.Order{},
	} {
		for f := range reflect.TypeOf(record).Fields() {
			all[reflect.TypeOf(record).String()+"."+f.Name] = true
		}
	}
	require.Equal(t, all, used)
	require.Len(t, states, 7, "one member in every state")
}

// fields notes the fields below v that are not zero.
func fields(v reflect.Value, used map[string]bool) {
	kind := v.Kind()
	if kind == reflect.Pointer && !v.IsNil() {
		fields(v.Elem(), used)
	}
	if kind == reflect.Slice {
		for i := range v.Len() {
			fields(v.Index(i), used)
		}
	}
	if kind == reflect.Struct {
		for f, value := range v.Fields() {
			if !value.IsZero() {
				used[v.Type().String()+"."+f.Name] = true
			}
			fields(value, used)
		}
	}
}

func TestSchemasOfOtherBinariesAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, schema := range []int{-1, 0, codec.Schema + 1, 1 << 30} {
		_, err := codec.DecodeGroup(schema, golden(t, "group-new.json"))
		require.ErrorIs(t, err, codec.ErrSchema)
		require.NotErrorIs(t, err, codec.ErrCorrupt)
		_, err = codec.DecodeStream(schema, golden(t, "stream.json"))
		require.ErrorIs(t, err, codec.ErrSchema)
	}
}

// TestWhitespaceAndOrderOfKeysDoNotMatter: a store may keep JSON in its own form.
func TestWhitespaceAndOrderOfKeysDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, name := range groupFiles() {
		var doc any
		decoder := json.NewDecoder(bytes.NewReader(golden(t, name)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&doc))
		data, err := json.MarshalIndent(doc, " ", "\t")
		require.NoError(t, err)
		g, err := codec.DecodeGroup(1, []byte(strings.ReplaceAll(string(data), `":`, "\"\n:")))
		require.NoError(t, err)
		require.Equal(t, string(golden(t, name)), string(encoded(t, g)))
	}
}
