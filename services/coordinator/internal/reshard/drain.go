package reshard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// drain seals the removed shards that are proven empty and that nobody reads any more,
// and looks at those that are still read (L3–L6).
func (p *pass) drain(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	if p.now() < r.DrainFrom {
		return false, nil
	}
	if r.Phase == stream.PhaseActive {
		p.log.Info("resharding drains the removed shards", "stream", p.prefix, "reshardingId", r.ID)
		return p.save(ctx, p.entry.Stream.Drained(p.now()))
	}
	if moved, err := p.seal(ctx, r); moved || err != nil {
		return moved, err
	}
	return p.prove(ctx, r)
}

// seal seals the closed shards that no group holds any more, lingering holds included (L5).
// Behind a barrier a group may have lost the record of a hold (M3).
func (p *pass) seal(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	if p.barred() {
		return false, nil
	}
	free := window(slices.DeleteFunc(r.At(stream.StepClosing), func(index int) bool {
		return p.held(index) || slices.Contains(p.occupied, index)
	}))
	if len(free) == 0 {
		return false, nil
	}
	found, err := p.shards.Seal(ctx, p.prefix, free, tokenOf(r), p.entry.Stream.Active(), p.cfg.Retention,
		func(index int) protocol.DrainProof { return accepted(p.cfg, r, index) })
	if err != nil {
		return false, fmt.Errorf("shards are not sealed: %w", err)
	}
	if slices.ContainsFunc(found, func(f provision.Finding) bool { return f.Stale }) {
		return p.mark(ctx, r, free) // made again as a lost shard meanwhile, or the record lost a phase
	}
	for _, f := range found {
		p.log.Info("removed shard", "stream", p.prefix, "reshardingId", r.ID, "shard", f.Index, "sealed", f.Sealed,
			"reason", f.Reason, "proof", f.Proof, "evidence", evidenceOf(f))
		if f.Err != nil { // it is told, and stops none of the others
			p.occupied, p.undone = append(p.occupied, f.Index), errors.Join(p.undone, f.Err)
		}
	}
	found = slices.DeleteFunc(found, func(f provision.Finding) bool { return f.Err != nil })
	return p.save(ctx, p.entry.Stream.Sealed(judged(found), p.now()))
}

// held tells whether anybody may be reading a shard.
func (p *pass) held(index int) bool {
	for _, g := range p.groups {
		if index < len(g.Holds) && g.Holds[index].Member != "" {
			return true
		}
	}
	return false
}

// prove looks at the removed shards that are still read (L4).
func (p *pass) prove(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	reading := window(r.At(stream.StepReading))
	if len(reading) == 0 {
		return false, nil
	}
	found, err := p.shards.Prove(ctx, p.prefix, reading, p.entry.Stream.Active())
	if err != nil {
		return false, fmt.Errorf("removed shards cannot be looked at: %w", err)
	}
	lost := false
	for i := range found {
		if p.retired(found[i]) {
			found[i].Reason = ""
		}
		found[i] = vouched(found[i], accepted(p.cfg, r, found[i].Index))
		lost = lost || missing(found[i].Reason)
	}
	layout := p.entry.Stream.LayoutVersion
	if _, err := p.save(ctx, p.entry.Stream.Judged(judged(found), p.now())); err != nil {
		return false, err
	}
	if lost {
		return p.findLost(ctx)
	}
	return p.entry.Stream.LayoutVersion != layout, nil // another reason alone is no progress
}

// atOneLook bounds the shards that one look asks Redis about.
const atOneLook = 512

// window returns the shards to look at now: all, or some where there are many, others each
// time.
func window(indexes []int) []int {
	if len(indexes) <= atOneLook {
		return indexes
	}
	first := rand.N(len(indexes))
	return slices.Concat(indexes[first:], indexes[:first])[:atOneLook]
}

// accepted says by what a shard may be proven where its lag cannot be trusted (L9).
func accepted(cfg Config, r stream.Resharding, index int) protocol.DrainProof {
	if shard, _ := r.Shard(index); shard.Confirmed != nil {
		return protocol.ProofConfirmed
	}
	if cfg.AcceptTailProof {
		return protocol.ProofTail
	}
	return ""
}

// vouched returns a finding with a proof that does without the lag, if one is accepted and
// nothing but the lag stands against it.
func vouched(f provision.Finding, proof protocol.DrainProof) provision.Finding {
	if proof != "" && (f.Reason == protocol.DrainLagUnknown || f.Reason == protocol.DrainLagContradicts) {
		f.Reason, f.Proof = "", proof
	}
	return f
}

func judged(found []provision.Finding) []stream.Judged {
	judged := make([]stream.Judged, len(found))
	for i, f := range found {
		judged[i] = stream.Judged{Index: f.Index, Reason: string(f.Reason), Proof: string(f.Proof)}
		if f.Reason == "" {
			judged[i].Evidence = evidenceOf(f)
		}
	}
	return judged
}

// evidenceOf returns what Redis said of a shard, for the record: "" for a seal that was
// there before.
func evidenceOf(f provision.Finding) string {
	if f.LastID == "" {
		return ""
	}
	said := []string{fmt.Sprintf("last %s added %s", f.LastID, orUnknown(f.EntriesAdded))}
	for _, g := range f.Groups {
		said = append(said, fmt.Sprintf("group %s delivered %s pending %d lag %s", g.Name, g.LastDelivered, g.Pending, orUnknown(g.Lag)))
	}
	return strings.Join(said, "; ")
}

func orUnknown(number *int64) string {
	if number == nil {
		return "unknown"
	}
	return strconv.FormatInt(*number, 10)
}

func missing(reason protocol.DrainReason) bool {
	return reason == protocol.DrainStreamMissing || reason == protocol.DrainGroupMissing
}
