package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"koordinator.sh/koord/decision/core/predict"

	"koordinator.sh/koord/decision/core/phrase"
)

// PredictionReplay is how profiles did on a recorded load.
type PredictionReplay struct {
	ReplayedLoad
	Profiles []ProfileScore
}

// ReplayedLoad is what was replayed.
type ReplayedLoad struct {
	// Trace is the file or directory of the recording.
	Trace string `json:"trace"`
	// Nodes that the recordings were laid onto.
	Nodes      int `json:"nodes"`
	Recordings int `json:"recordings"`
	// Horizon of the predictions, as a duration.
	Horizon string `json:"horizon"`
}

// ProfileScore is how one profile did.
type ProfileScore struct {
	predict.Profile
	predict.Score
}

// tolerable is the rate of violations, 1 %, up to which a profile counts as good.
const tolerable = 0.01

// Replay prints profiles side by side, the safe ones that free most first marked, and the lower bound below.
func Replay(w io.Writer, r PredictionReplay, o Options) error {
	best := bestProfile(r.Profiles)
	t := table{columns: []column{
		{header: "PROFILE"}, {header: "EXCEEDED", right: true}, {header: "BY", right: true, drop: 2}, {header: "FREED", right: true},
		{header: "PEAK", right: true, drop: 1}, {header: "HOW", flexible: 30, drop: 3, says: true},
	}}
	for i := range r.Profiles {
		p := &r.Profiles[i]
		role := Good
		if p.ViolationRate > tolerable {
			role = Bad
		}
		name := text(p.Name)
		if i == best {
			name = painted(Strong, p.Name)
		}
		t.add(name, painted(role, share(p.ViolationRate)), text(share(p.Severity)), text(share(p.Savings)),
			text(strconv.FormatFloat(p.PeakRatio, 'f', 2, 64)), text(p.Summary))
	}
	if _, err := t.render(w, o); err != nil || len(r.Profiles) == 0 {
		return err
	}
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.say(replaySummary(r, best)))
	wrapped(&b, o, 0, o.Style.Paint(Dim, "EXCEEDED: share of predictions that were too low; BY: average shortfall over all predictions; FREED: share of the limits; PEAK: predicted over actual peak."))
	_, err := io.WriteString(w, b.String())
	return err
}

// bestProfile is the one that frees most among those that are exceeded seldom; -1 when all are exceeded often.
func bestProfile(profiles []ProfileScore) int {
	best := -1
	for i := range profiles {
		if profiles[i].ViolationRate <= tolerable && (best < 0 || profiles[i].Savings > profiles[best].Savings) {
			best = i
		}
	}
	return best
}

func replaySummary(r PredictionReplay, best int) string {
	points, oracle := r.Profiles[0].Points, r.Profiles[0].OracleSavings
	out := fmt.Sprintf("%s: %s on %s, %s %s ahead; %s of the limits went unused in the end.",
		r.Trace, phrase.Counted(r.Recordings, "recording"), phrase.Counted(r.Nodes, "node"), phrase.Counted(points, "prediction"), r.Horizon, share(oracle))
	if best < 0 {
		return out + " Every profile was exceeded in more than 1% of them."
	}
	return out + fmt.Sprintf(" Of the profiles exceeded in at most 1%% of them, %s frees most.", r.Profiles[best].Name)
}

// share is a percentage with what digits matter: rates of violations are small.
func share(rate float64) string { return strconv.FormatFloat(rate*100, 'f', 2, 64) + "%" }
