package stream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// A record that lost writes may say of a shard that it is sealed though a rollback that is
// lost has put it back (L5, L8).
func TestL5DoubtedSealsAreMadeOnceMore(t *testing.T) {
	t.Parallel()
	before := draining(t)
	require.Equal(t, []int{4}, before.Resharding.At(stream.StepSealed))
	doubted := before.Doubted()
	require.Equal(t, []int{3, 4}, doubted.Resharding.At(stream.StepClosing))
	require.Equal(t, before.Closed(), doubted.Closed())
	require.Equal(t, before.LayoutVersion, doubted.LayoutVersion, "groups have nothing to copy")
	require.Equal(t, before.MetadataVersion+1, doubted.MetadataVersion)
	require.Equal(t, doubted, doubted.Doubted(), "once is enough")
	require.Equal(t, draining(t), before, "the record given is not written")

	back, err := before.RollingBack(before.Resharding.ID, stream.Order{}, 60_000)
	require.NoError(t, err)
	require.Equal(t, back, back.Doubted(), "they come back anyhow")
}

func TestL6DoubtedShardsAreOfTheReadingSetAgain(t *testing.T) {
	t.Parallel()
	none := map[int]string{2: "", 3: "", 4: ""}
	all := sealed(none)(judged(none)(draining(t)))
	require.Zero(t, all.Removed)
	doubted := all.Doubted()
	require.Equal(t, 3, doubted.Removed)
	require.Equal(t, []int{2, 3, 4}, doubted.Closed())
	require.Equal(t, all.LayoutVersion+1, doubted.LayoutVersion)
	require.Equal(t, stream.CauseCorrection, doubted.LayoutCause)
	require.Equal(t, all.Resharding.Shards, sealed(none)(doubted).Resharding.Shards)
}

func TestL1RecordThatLostWritesCoversWhatGroupsRead(t *testing.T) {
	t.Parallel()
	s := settled(4)
	require.Equal(t, s, s.Covering(4))
	wide := s.Covering(6)
	require.Equal(t, 6, wide.ShardCount)
	require.Equal(t, s.LayoutVersion+1, wide.LayoutVersion)
	require.Equal(t, s.MetadataVersion+1, wide.MetadataVersion)
	require.Equal(t, draining(t), draining(t).Covering(99), "a resharding under way decides")
}

// L8: a scale-out whose routing changed in a history that is lost may have been written to:
// it is not undone as one that nobody knew of.
func TestL8ScaleOutThatGroupsHaveCopiedWasRoutedTo(t *testing.T) {
	t.Parallel()
	preparing := scale(t, 6)(settled(4))
	require.Equal(t, preparing, preparing.Covering(4))
	active := preparing.Covering(6)
	require.Equal(t, stream.PhaseActive, active.Resharding.Phase)
	require.Equal(t, 6, active.ShardCount)
	require.Equal(t, preparing.LayoutVersion+1, active.LayoutVersion)
	back, err := preparing.RollingBack(preparing.Resharding.ID, stream.Order{}, 60_000)
	require.NoError(t, err)
	back = back.Covering(6)
	require.Equal(t, stream.PhaseRollingBack, back.Resharding.Phase)
	require.Equal(t, 6, back.ShardCount)
	require.Equal(t, []int{4, 5}, turned(back).Resharding.At(stream.StepReading), "the added shards are read to their end")
	require.Equal(t, turned(back), turned(back).Covering(9))
	shrinking := scale(t, 2)(settled(4))
	require.Equal(t, shrinking, shrinking.Covering(9))
}
