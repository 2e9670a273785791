package observe

import (
	"context"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// slotCount is how many hash slots a cluster has.
const slotCount = 16_384

// placeKeeper knows where slots are: from the cluster, asked once a round, or as it was
// when the cluster was last asked.
type placeKeeper struct {
	redis redis.UniversalClient
	slots []facts.Node // by slot; nil as long as no cluster has told
}

// refresh asks a cluster for its slots. A client of one server has nothing to ask.
func (k *placeKeeper) refresh(ctx context.Context) error {
	cluster, ok := k.redis.(*redis.ClusterClient)
	if !ok {
		return nil
	}
	ranges, err := redisx.Slots(ctx, cluster)
	if err != nil {
		return err
	}
	slots := make([]facts.Node, slotCount)
	for _, r := range ranges {
		node := facts.Node{ID: some(r.NodeID), Endpoint: some(r.Addr), SlotFirst: &r.First, SlotLast: &r.Last}
		for slot := r.First; slot <= r.Last; slot++ {
			slots[slot] = node
		}
	}
	k.slots = slots
	return nil
}

// of returns the node that has a slot, as far as that is known.
func (k *placeKeeper) of(slot int) facts.Node {
	switch client := k.redis.(type) {
	case *redis.Client:
		if _, _, err := net.SplitHostPort(client.Options().Addr); err == nil { // sentinels tell the address to the client only
			return facts.Node{Endpoint: some(client.Options().Addr)}
		}
	case *redis.ClusterClient:
		if k.slots != nil {
			return k.slots[slot]
		}
	}
	return facts.Node{}
}

// runIDOf returns the run id of the server that has a shard, empty where it does not answer
// or is another one than the slots say.
func (k *placeKeeper) runIDOf(ctx context.Context, shard facts.Shard) string {
	server, err := redisx.Primary(ctx, k.redis, shard.Key)
	if err != nil {
		return ""
	}
	pipe := server.Pipeline()
	info := pipe.Info(ctx, "server")
	cluster, clustered := k.redis.(*redis.ClusterClient)
	var self *redis.StringCmd
	if clustered {
		self = pipe.ClusterMyID(ctx)
	}
	_, _ = pipe.Exec(ctx) // each command carries its own error.
	if clustered && (shard.Node.ID == nil || self.Val() != *shard.Node.ID) {
		cluster.ReloadState(ctx) // the client's map may be older than the one just asked for
		return ""
	}
	_, rest, _ := strings.Cut(info.Val(), "run_id:")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id
}

// some returns nil for a text that is not known.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
