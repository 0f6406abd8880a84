package interference

import (
	"time"
)

// Window is what was measured of one service in one window.
type Window struct {
	// End of the window.
	End time.Time
	// Pressure in percent, by signal; one that is absent was not measured.
	Pressure map[Signal]float64
	// CPI is the cycles per instruction; 0 when not measured.
	CPI float64
}
