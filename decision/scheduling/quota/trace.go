package quota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Sharing is how one resource of one quota was divided among its children. The zero value is ready to record; a nil one
// records nothing.
type Sharing struct {
	Parent   string              `json:"parent"`
	Resource corev1.ResourceName `json:"resource"`
	// Total that was shared, and what was left of it after everyone had the floor.
	Total    int64   `json:"total"`
	LeftOver int64   `json:"leftOver"`
	Children []Child `json:"children"`
	Rounds   []Round `json:"rounds,omitempty"`
	Loans    []Loan  `json:"loans,omitempty"`
	// Unshared is what no quota asks for.
	Unshared int64 `json:"unshared"`
}

// Child is the part of one quota.
type Child struct {
	Quota string `json:"quota"`
	Min   int64  `json:"min"`
	// Capped is true where min counts for less than it says, because the mins add up to more than there is.
	Capped bool `json:"capped,omitempty"`
	// Floor is what the quota is guaranteed now: min as far as there is as much, or its usage where that is guaranteed.
	Floor int64 `json:"floor"`
	// Weight as far as it counts.
	Weight  int64 `json:"weight"`
	Request int64 `json:"request"`
	// Kept of the floor before anything was shared. The rest is lent.
	Kept    int64 `json:"kept"`
	Runtime int64 `json:"runtime"`
}

// Lent is what others may use of the quota's floor.
func (c *Child) Lent() int64 { return c.Floor - c.Kept }

// Borrowed is what the quota got beyond its floor.
func (c *Child) Borrowed() int64 { return max(0, c.Runtime-c.Floor) }

// Round is one division of what was left over.
type Round struct {
	LeftOver int64  `json:"leftOver"`
	Gains    []Gain `json:"gains"`
}

// Gain is what a quota got in a round, and what it returned because it asks for less.
type Gain struct {
	Quota    string `json:"quota"`
	Got      int64  `json:"got"`
	Returned int64  `json:"returned,omitempty"`
}

// Loan is what a quota uses of the floor of another, or of what no floor covers, where From is empty.
type Loan struct {
	// Round in which it was made, from 0.
	Round  int    `json:"round"`
	From   string `json:"from,omitempty"`
	To     string `json:"to"`
	Amount int64  `json:"amount"`
}

// Explain repeats how the resource of a quota is divided among its children; the root's for the name of the root. It
// returns nil when the tree has no such quota or resource, or the quota no children.
func (t *Tree) Explain(parent string, resource corev1.ResourceName) *Sharing {
	row, found := t.row[parent]
	column, known := t.column[resource]
	if !found || !known || t.nodes[row].count == 0 {
		return nil
	}
	t.refresh(row)
	if t.nodes[row].stale {
		t.share(row)
	}
	trace := &Sharing{Parent: parent, Resource: resource}
	t.shareColumn(row, column, trace)
	for i := range trace.Children {
		trace.Children[i].Runtime = t.shares[t.at(t.nodes[row].first+int32(i), column)].runtime
	}
	trace.lend()
	return trace
}

func (s *Sharing) floor(t *Tree, row int32, column int, floor, kept int64) {
	if s == nil {
		return
	}
	share := &t.shares[t.at(row, column)]
	s.Children = append(s.Children, Child{
		Quota: t.nodes[row].spec.Name, Min: share.min, Capped: share.floor < share.min, Floor: floor, Weight: int64(t.weight(row, column)), Request: share.limited, Kept: kept,
	})
}

func (s *Sharing) begin(total, left int64) {
	if s != nil {
		s.Total, s.LeftOver = total, left
	}
}

func (s *Sharing) end(left int64) {
	if s != nil {
		s.Unshared = left
	}
}

func (s *Sharing) round(t *Tree, left int64, borrowers []borrower) {
	if s == nil {
		return
	}
	round := Round{LeftOver: left}
	for i := range borrowers {
		b := &borrowers[i]
		got := int64(b.gain)
		round.Gains = append(round.Gains, Gain{Quota: t.nodes[b.row].spec.Name, Got: got, Returned: max(0, b.runtime+got-b.want)})
	}
	slices.SortFunc(round.Gains, func(a, b Gain) int { return strings.Compare(a.Quota, b.Quota) })
	s.Rounds = append(s.Rounds, round)
}

// lend says whose left-over amounts the gains were: first what no floor covers, then what each lender leaves, in order of
// names. Units are alike, so any attribution that adds up is true; this one is stable.
func (s *Sharing) lend() {
	pool := []Loan{{Amount: s.LeftOver}}
	for i := range s.Children {
		if lent := min(s.Children[i].Lent(), pool[0].Amount); lent > 0 {
			pool[0].Amount -= lent
			pool = append(pool, Loan{From: s.Children[i].Quota, Amount: lent})
		}
	}
	for number := range s.Rounds {
		for _, gain := range s.Rounds[number].Gains {
			for kept := gain.Got - gain.Returned; kept > 0 && len(pool) > 0; {
				part := min(kept, pool[0].Amount)
				if part > 0 {
					s.Loans = append(s.Loans, Loan{Round: number, From: pool[0].From, To: gain.Quota, Amount: part})
				}
				kept -= part
				if pool[0].Amount -= part; pool[0].Amount == 0 {
					pool = pool[1:]
				}
			}
		}
	}
}
