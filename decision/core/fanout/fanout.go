package fanout

import (
	"runtime"
	"sync"
)

// share is how many objects are worth a goroutine.
const share = 256

// Each calls do for every index below n, on all CPUs where there are many, and returns when all are done.
func Each(n int, do func(int)) {
	part := max(share, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for begin := 0; begin < n; begin += part {
		group.Go(func() {
			for i := begin; i < min(begin+part, n); i++ {
				do(i)
			}
		})
	}
	group.Wait()
}
