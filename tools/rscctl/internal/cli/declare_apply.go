package cli

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// pruneWord is what a person types to have deleted what is not in the file.
const pruneWord = "prune"

// planOf asks the coordinator for its plan of a change.
func (s *session) planOf(ctx context.Context, change manifest.Change, sign signature) (*protocol.Plan, error) {
	switch change.Action {
	case manifest.CreateStream:
		return s.admin.PlanCreateStream(ctx, change.Stream, streamRequest(change, sign))
	case manifest.AddGroup:
		return s.admin.PlanCreateGroup(ctx, change.Stream, change.Groups[0].Name, groupRequest(change, sign))
	case manifest.Scale:
		return s.admin.PlanScale(ctx, change.Stream, scaleRequest(change, sign))
	case manifest.DeleteGroup:
		return s.admin.PlanDeleteGroup(ctx, change.Stream, change.Groups[0].Name, deleteRequest(sign))
	case manifest.DeleteStream:
		return s.admin.PlanDeleteStream(ctx, change.Stream, deleteRequest(sign))
	}
	return nil, errors.New("no such change")
}

// makeChange makes a change under a key of its own, and returns the resharding that a scale began.
func (s *session) makeChange(ctx context.Context, change manifest.Change, sign signature) (*string, error) {
	admin := s.onceEach()
	var err error
	switch change.Action {
	case manifest.CreateStream:
		_, err = admin.CreateStream(ctx, change.Stream, streamRequest(change, sign))
	case manifest.AddGroup:
		_, err = admin.CreateGroup(ctx, change.Stream, change.Groups[0].Name, groupRequest(change, sign))
	case manifest.Scale:
		var scaled *protocol.StreamScaleResponse
		if scaled, err = admin.Scale(ctx, change.Stream, scaleRequest(change, sign)); err == nil && begun(scaled) {
			return &scaled.Migrations[0].ReshardingID, nil
		}
	case manifest.DeleteGroup:
		_, err = admin.DeleteGroup(ctx, change.Stream, change.Groups[0].Name, deleteRequest(sign))
	case manifest.DeleteStream:
		_, err = admin.DeleteStream(ctx, change.Stream, deleteRequest(sign))
	}
	return nil, err
}

func streamRequest(change manifest.Change, sign signature) protocol.CreateStreamRequest {
	return protocol.CreateStreamRequest{
		InitialShardCount: &change.To, RequestedBy: sign.by, Reason: &sign.reason, ConsumerGroups: groupNames(change),
	}
}

func groupRequest(change manifest.Change, sign signature) protocol.CreateGroupRequest {
	request := protocol.CreateGroupRequest{
		RequestedBy: sign.by, Reason: &sign.reason, InitialPosition: change.Groups[0].InitialPosition,
	}
	if change.New {
		request.InitialShardCount = &change.To
	}
	return request
}

func scaleRequest(change manifest.Change, sign signature) protocol.ScaleRequest {
	return protocol.ScaleRequest{TargetShardCount: &change.To, RequestedBy: sign.by, Reason: sign.reason}
}

// deleteRequest deletes neither records nor what members still read.
func deleteRequest(sign signature) protocol.DeleteRequest {
	return protocol.DeleteRequest{RequestedBy: sign.by, Reason: sign.reason}
}

// carryOut shows the plan, makes the changes in their order and stops at the first that fails.
func (s *session) carryOut(ctx context.Context, report *declared, d declaration, sign signature) error {
	report.Executed = true
	plan := s.notes() // beside the answer when that is for a program
	if !s.forPrograms() {
		plan = s.page()
	}
	printDeclared(plan, report)
	if report.deletes() {
		if d.file == inputFile && !d.assent {
			return usage("nothing was changed: pruning needs --yes, as the input is the file")
		}
		if err := s.confirm(ctx, d.assent, pruneWord); err != nil {
			return err
		}
	}
	failed := s.makeChanges(ctx, report, sign, plan)
	if err := plan.Err(); err != nil {
		return err
	}
	var waited error
	if failed == nil && d.wait {
		waited = s.waitFor(ctx, report)
	}
	switch {
	case s.forPrograms():
		if err := s.emit(report, nil); err != nil {
			return err
		}
	case !d.wait:
		for _, one := range report.Changes {
			if one.ReshardingID != nil {
				plan.Line("Follow it with: rscctl migrations watch %s", one.StreamPrefix)
			}
		}
	}
	if failed != nil {
		return failed
	}
	return waited
}

// makeChanges makes the changes and notes in the report what became of each.
func (s *session) makeChanges(ctx context.Context, report *declared, sign signature, told *show.Page) error {
	var failed error
	for i := range report.Changes {
		one := &report.Changes[i]
		if failed != nil {
			one.State = changeNotDone
			told.Line("NOT DONE  %s", doingOf(one.change))
			continue
		}
		id, err := s.makeChange(ctx, one.change, sign)
		if err == nil {
			one.State, one.ReshardingID = changeDone, id
			told.Line("DONE      %s", doingOf(one.change))
			continue
		}
		one.State, one.Error = changeUnknown, new(s.cause(err))
		if errors.As(err, new(*protocol.Error)) {
			one.State = changeRefused
		}
		told.Line("%-8s  %s", one.State, doingOf(one.change))
		at := placeOf(one.change)
		at.changes = true
		failed = s.cannot(err, at, "%s (%d of %d changes are made; the same command goes on from there)",
			doingOf(one.change), i, len(report.Changes))
	}
	return failed
}

// waitFor follows the reshardings that were begun, and those that were under way, to their end.
func (s *session) waitFor(ctx context.Context, report *declared) error {
	for _, one := range report.Changes {
		if one.ReshardingID == nil {
			continue
		}
		// Its groups are asked for now, as the file may have changed them.
		at, err := s.migrationOf(ctx, []string{one.StreamPrefix, *one.ReshardingID}, true)
		if err != nil {
			return err
		}
		if err := s.await(ctx, at, protocol.MigrationDeprecated); err != nil {
			return err
		}
	}
	for _, one := range report.UnderWay {
		want := protocol.MigrationDeprecated
		if one.State == protocol.MigrationRollingBack {
			want = protocol.MigrationRolledBack
		}
		if err := s.await(ctx, place{stream: one.Stream, group: one.Group, id: one.ID}, want); err != nil {
			return err
		}
	}
	return nil
}

// await is watch, which shows people what happens and keeps the output of programs free.
func (s *session) await(ctx context.Context, at place, want protocol.MigrationState) error {
	if !s.forPrograms() {
		return s.watch(ctx, at, want)
	}
	opts := client.WatchOptions{OnTrouble: s.onceInARow(func() {})}
	last, err := s.admin.WatchMigrationWith(ctx, at.stream, at.group, at.id, opts, nil)
	return s.watched(ctx, at, want, last, err)
}
