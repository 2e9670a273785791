package redisproc

// Option changes how a Server is started.
type Option func(*settings)

type settings struct {
	args []string
	aof  string
}

// WithArgs appends arguments to the command line of redis-server, for example
// "--maxmemory", "4mb". They win over the defaults of this package.
func WithArgs(args ...string) Option {
	return func(s *settings) { s.args = append(s.args, args...) }
}

// WithAOF keeps the data in an append-only file, so that it survives Restart.
// The policy is one of Redis' appendfsync: "always", "everysec" or "no".
func WithAOF(policy string) Option {
	return func(s *settings) { s.aof = policy }
}

func collect(opts []Option) settings {
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// commandLine returns the arguments of redis-server for a port and directory.
func (s settings) commandLine(port, dir string) []string {
	line := []string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir,
		"--daemonize", "no", "--save", "",
	}
	if s.aof != "" {
		line = append(line, "--appendonly", "yes", "--appendfsync", s.aof)
	}
	return append(line, s.args...)
}
