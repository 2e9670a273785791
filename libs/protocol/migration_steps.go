package protocol

// Steps is how far a resharding has come in steps, for a bar: each of its shards, each group that
// has to copy the layout, and its end, so that nothing that is still waited for looks finished.
// Both are 0 where nothing is known to be counted. A group has copied nothing yet while shards
// are being made (L2).
func (m Migration) Steps() (done, total int) {
	if m.Progress == nil {
		return 0, 0
	}
	done, total = max(m.Progress.Done, 0), max(m.Progress.Total, 0)
	if m.State == MigrationDeprecated || m.State == MigrationRolledBack {
		return total, total
	}
	for _, group := range m.Progress.Groups {
		if group.Copied && m.State != MigrationPreparing {
			done++
		}
	}
	total += len(m.Progress.Groups)
	if total == 0 {
		return 0, 0
	}
	return min(done, total), total + 1
}
