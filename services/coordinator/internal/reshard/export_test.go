package reshard

// Look takes a stream as far as it goes now, as the driver does by itself after Start;
// lost asks for a look at all its shards. again tells that there may be more to do.
func (d *Driver) Look(prefix string, lost bool) (again bool, err error) {
	return d.look(prefix, errand{lost: lost})
}

// Ready lists the streams that would be worked on now.
func (d *Driver) Ready() []string { return d.ready() }

// Note remembers how a look at a stream ended.
func (d *Driver) Note(prefix string, err error) { d.note(prefix, err) }
