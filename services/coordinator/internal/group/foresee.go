package group

// Foresee returns the target that the group would have on a layout if nothing else
// changed (L11). It changes nothing.
func Foresee(g *Group, l Layout) []string {
	next := g.clone()
	next.ShardCount, next.Removed, next.Closed = l.ShardCount, l.ReadCount-l.ShardCount, l.Closed
	for len(next.Target) < l.ReadCount {
		next.Target = append(next.Target, "")
	}
	return next.target()[:l.ReadCount]
}
