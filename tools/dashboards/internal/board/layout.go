package board

import "fmt"

// columns is how wide Grafana's grid is.
const columns = 24

// lay gives every panel its id and place: each section begins with its title, and a line
// ends where the next panel does not fit.
func lay(sections []Section) ([]object, error) {
	var laid []object
	id, y := 1, 0
	for _, section := range sections {
		laid = append(laid, object{
			"id": id, "type": "row", "title": section.Title, "collapsed": false, "panels": []object{},
			"gridPos": place(0, y, columns, 1),
		})
		id++
		y++
		x, line := 0, 0
		for _, panel := range section.Panels {
			if err := panel.check(); err != nil {
				return nil, fmt.Errorf("section %q: %w", section.Title, err)
			}
			if x+panel.Width > columns {
				x, y, line = 0, y+line, 0
			}
			written := panel.object()
			written["id"], written["gridPos"] = id, place(x, y, panel.Width, panel.Height)
			laid = append(laid, written)
			id++
			x, line = x+panel.Width, max(line, panel.Height)
		}
		y += line
	}
	return laid, nil
}

func place(x, y, width, height int) object {
	return object{"x": x, "y": y, "w": width, "h": height}
}
