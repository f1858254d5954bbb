package document

import "clefbar/engine"

// Problems returns what keeps the case from being decided, in form order.
func (c *Case) Problems() []Problem { return nil }

// Advice returns what a careful colleague would say. None of it is in the way.
func (c *Case) Advice() []Problem { return nil }

// Fix takes the way out that a problem or an advice offers, as one step of undo.
func (c *Case) Fix(p Problem) {}

// Request returns the request as the engine takes it, or the problems that keep it
// from being one. It is parsed from [Case.JSON] by the one parser of the program.
func (c *Case) Request() (*engine.Request, []Problem) { return nil, nil }
