package login

// Kept returns how many tallies there are.
func (l *Lockout) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accounts.pages) + len(l.addresses.pages) + len(l.proven.pages)
}

// Kept returns how many revocations there are.
func (l *LocalRevocations) Kept() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.until)
}
