package machine

import (
	"slices"
	"time"

	"koordinator.sh/koord/agent/host"
)

// applications reads what runs outside of Kubernetes.
type applications struct {
	*cgroups
	watched []*application
}

type application struct {
	host.Application
	// group is nil while the application does not run; it was looked for then.
	*group
	looked time.Time
}

// watch makes the applications those given. The files of those that stay are kept open.
func (a *applications) watch(wanted []host.Application) {
	before := a.watched
	a.watched = nil
	for _, want := range wanted {
		if i := slices.IndexFunc(before, func(w *application) bool { return w.Application == want }); i >= 0 {
			a.watched = append(a.watched, before[i])
			before = slices.Delete(before, i, i+1)
			continue
		}
		a.watched = append(a.watched, &application{Application: want})
	}
	for _, gone := range before {
		gone.stop()
	}
}

// same reports whether the applications are those given.
func (a *applications) same(wanted []host.Application) bool {
	return slices.EqualFunc(a.watched, wanted, func(w *application, want host.Application) bool { return w.Application == want })
}

// read appends the counters of those that run. All of them is read up to date when all is asked for.
func (a *applications) read(into *host.Snapshot, all bool) {
	into.Applications = into.Applications[:0]
	for _, w := range a.watched {
		if w.group == nil {
			if age := into.Time.Sub(w.looked); !w.looked.IsZero() && age >= 0 && age < listInterval {
				continue
			}
			w.looked = into.Time
			opened, err := a.open(w.Cgroup)
			if err != nil {
				continue // it does not run
			}
			w.group = opened
		}
		if _, err := a.cgroups.read(w.group, all); err != nil {
			w.stop()
			continue
		}
		into.Applications = append(into.Applications, host.ApplicationCounter{Name: w.Name, Counter: w.last})
	}
}

func (w *application) stop() {
	if w.group != nil {
		w.group.close()
		w.group = nil
	}
}
