package machine

import (
	"time"

	"koordinator.sh/koord/agent/host/files"
)

// listInterval is how often a directory is listed although nothing says that it changed.
const listInterval = 10 * time.Second

// listing is the names of the directories in one. It lists a directory whose number of directories did not change only now and
// then; a directory within that is replaced by another within one reading is noticed by the files of the first.
type listing struct {
	path  string
	names []string
	// directory is nil where the tree cannot tell how many directories are in one.
	directory files.Directory
	links     uint64
	listed    time.Time
	known     bool
}

// refresh reports whether the names may be others than before.
func (l *listing) refresh(tree files.FS, now time.Time) (bool, error) {
	counting, counts := tree.(files.Counting)
	if counts && l.directory == nil {
		l.directory, _ = counting.OpenDirectory(l.path) // a failure shows up when the directory is listed
	}
	links, counted := uint64(0), false
	if l.directory != nil {
		if n, err := l.directory.Links(); err == nil && n > 0 {
			links, counted = n, true
		}
	}
	age := now.Sub(l.listed)
	if l.known && counted && links == l.links && age >= 0 && age < listInterval {
		return false, nil
	}
	names, err := tree.Directories(l.path)
	if err != nil {
		l.forget()
		return true, err
	}
	if l.known && counted && links == l.links && len(names) != len(l.names) {
		l.forget() // it went, and another has its path: what is kept open counts nothing any more
	}
	l.names, l.links, l.listed, l.known = names, links, now, true
	return true, nil
}

// again has the next refresh list the directory.
func (l *listing) again() { l.known = false }

// forget closes the directory, which may be another when it comes back.
func (l *listing) forget() {
	if l.directory != nil {
		_ = l.directory.Close() // nothing was written
	}
	l.directory, l.names, l.known = nil, nil, false
}
