package view

// rel says how an address relates to its page.
func rel(next bool) string {
	if next {
		return "next"
	}
	return "prev"
}
