package show

// tone is a colour of a terminal, as the number of its escape sequence.
type tone string

const (
	plain tone = ""
	faint tone = "2"
	good  tone = "32"
	busy  tone = "33"
	bad   tone = "31"
)

// toneOf returns the colour of a word that names a state; other texts are plain.
func toneOf(text string) tone {
	switch text {
	case "UP", "STABLE", "ACTIVE", "DEPRECATED", "SEALED", "OWNED":
		return good
	case "DEGRADED", "RECONCILING", "ASSIGNING", "STARTING", "LEAVING", "PREPARING", "DRAINING",
		"ROLLING_BACK", "READING", "CLOSING", "MOVING":
		return busy
	case "DOWN", "EXPIRED", "FENCED", "ROLLED_BACK", "UNASSIGNED", "LOST", "STREAM_MISSING", "GROUP_MISSING":
		return bad
	}
	return plain
}

func (p *Page) paint(t tone, text string) string {
	if !p.colour || t == plain {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}
