package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
)

// TestEverySchemaIsReadAsItWasWritten, also by a build that writes the next one
// (-tags rsc_next_schema): an update changes no record.
func TestEverySchemaIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for schema := codec.MinSchema; schema <= codec.Schema; schema++ {
		for _, name := range groupFiles() {
			g, err := codec.DecodeGroup(1, golden(t, name))
			require.NoError(t, err)
			data, err := codec.EncodeGroup(schema, g)
			require.NoError(t, err)
			read, err := codec.DecodeGroup(schema, data)
			require.NoError(t, err)
			require.Equal(t, g, read)
		}
		for _, name := range streamFiles() {
			s, err := codec.DecodeStream(1, golden(t, name))
			require.NoError(t, err)
			data, err := codec.EncodeStream(schema, s)
			require.NoError(t, err)
			read, err := codec.DecodeStream(schema, data)
			require.NoError(t, err)
			require.Equal(t, s, read)
		}
	}
}

// TestBytesOfAnotherSchemaAreNoRecord: a number that does not fit its bytes is damage.
func TestBytesOfAnotherSchemaAreNoRecord(t *testing.T) {
	t.Parallel()
	g, err := codec.DecodeGroup(1, golden(t, "group-new.json"))
	require.NoError(t, err)
	for written := codec.MinSchema; written <= codec.Schema; written++ {
		data, err := codec.EncodeGroup(written, g)
		require.NoError(t, err)
		for claimed := codec.MinSchema; claimed <= codec.Schema; claimed++ {
			if _, err := codec.DecodeGroup(claimed, data); claimed != written {
				require.ErrorIs(t, err, codec.ErrCorrupt, "%d as %d", written, claimed)
			}
		}
	}
}

func TestNothingIsWrittenInAnUnknownSchema(t *testing.T) {
	t.Parallel()
	g, err := codec.DecodeGroup(1, golden(t, "group-new.json"))
	require.NoError(t, err)
	for _, schema := range []int{codec.MinSchema - 1, codec.Schema + 1} {
		_, err := codec.EncodeGroup(schema, g)
		require.ErrorIs(t, err, codec.ErrSchema)
	}
}
