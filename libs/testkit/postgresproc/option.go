package postgresproc

// Option changes how a Server is started.
type Option func(*settings)

type settings struct {
	parameters []string
	durable    bool
}

// WithParameters sets server parameters as NAME=VALUE, for example "max_connections=5". They
// win over the defaults of this package.
func WithParameters(parameters ...string) Option {
	return func(s *settings) { s.parameters = append(s.parameters, parameters...) }
}

// WithFsync makes the server flush its writes to the disk. Without it the data outlives
// Kill all the same, because the machine that has taken the writes goes on.
func WithFsync() Option { return func(s *settings) { s.durable = true } }

func collect(opts []Option) settings {
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// commandLine returns the arguments of postgres for a port and data directory.
func (s settings) commandLine(port, data string) []string {
	fsync := "off"
	if s.durable {
		fsync = "on"
	}
	line := []string{"-D", data}
	for _, parameter := range append([]string{
		"port=" + port, "listen_addresses=127.0.0.1", "unix_socket_directories=",
		"fsync=" + fsync, "full_page_writes=" + fsync, "max_connections=200", "shared_buffers=16MB",
	}, s.parameters...) {
		line = append(line, "-c", parameter)
	}
	return line
}
