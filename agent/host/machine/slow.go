package machine

import (
	"bytes"
	"cmp"
	"path"
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// Turns is how many readings it takes until what is read slowly was read of every cgroup: each has its turn, so that no reading
// takes much longer than another.
const Turns = 10

// slowFiles are those of a cgroup that are read in turns, and what they said last.
type slowFiles struct {
	cpu, memory, io files.File
	// transferred and served are bytes and operations on block devices; version 2 has both in one.
	transferred, served files.File
	pressure            host.Pressure
	blockIO             host.BlockIO
}

// pressureDirectories are where the kernel may keep the pressure of a cgroup. Kernels with the first version of cgroups have it
// in the hierarchy of the second, when the cgroup is there as well, and those of Anolis in the one that counts CPU time.
func pressureDirectories(layout cgroup.Layout, at string) []string {
	if layout.Version == cgroup.V2 {
		return []string{at}
	}
	return []string{path.Join("unified", at), layout.Directory(cgroup.CPUUsage, at)}
}

func (c *cgroups) openSlow(at string) slowFiles {
	var s slowFiles
	for _, directory := range pressureDirectories(c.layout, at) {
		if s.cpu = c.try(path.Join(directory, "cpu.pressure")); s.cpu != nil {
			s.memory, s.io = c.try(path.Join(directory, "memory.pressure")), c.try(path.Join(directory, "io.pressure"))
			break
		}
	}
	if c.layout.Version == cgroup.V2 {
		s.transferred = c.try(path.Join(at, "io.stat"))
		return s
	}
	s.transferred = c.try(path.Join("blkio", at, "blkio.throttle.io_service_bytes_recursive"))
	s.served = c.try(path.Join("blkio", at, "blkio.throttle.io_serviced_recursive"))
	return s
}

// readSlow reads what has its turn. What cannot be read stays as it was.
func (c *cgroups) readSlow(s *slowFiles, now time.Time) {
	if s.cpu != nil {
		if read, err := c.pressure(s.cpu, s.memory, s.io, now); err == nil {
			s.pressure = read
		}
	}
	if s.transferred == nil {
		return
	}
	content, err := c.content(s.transferred)
	if err != nil {
		return
	}
	if c.layout.Version == cgroup.V2 {
		s.blockIO = ioStat(content)
		s.blockIO.At = now
		return
	}
	read := host.BlockIO{At: now}
	read.ReadBytes, read.WrittenBytes = blkio(content)
	if s.served != nil {
		if content, err = c.content(s.served); err == nil {
			read.Reads, read.Writes = blkio(content)
		}
	}
	s.blockIO = read
}

// pressure reads the three files of a cgroup or of the machine; those that are nil count nothing.
func (c *cgroups) pressure(cpu, memory, io files.File, now time.Time) (host.Pressure, error) {
	cpuStall, cpuErr := c.stall(cpu)
	memoryStall, memoryErr := c.stall(memory)
	ioStall, ioErr := c.stall(io)
	if err := cmp.Or(cpuErr, memoryErr, ioErr); err != nil {
		return host.Pressure{}, err
	}
	return host.Pressure{At: now, CPU: cpuStall, Memory: memoryStall, IO: ioStall}, nil
}

// stall reads one file of pressure; nothing of one that is nil.
func (c *cgroups) stall(file files.File) (host.Stall, error) {
	if file == nil {
		return host.Stall{}, nil
	}
	content, err := c.content(file)
	if err != nil {
		return host.Stall{}, err
	}
	return stalls(content), nil
}

// stalls reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", in microseconds, and the same of full.
func stalls(content []byte) host.Stall {
	return host.Stall{Some: stallIn(content, some), Full: stallIn(content, full)}
}

func stallIn(content, kind []byte) time.Duration {
	_, after, found := bytes.Cut(content, kind)
	if !found {
		return 0
	}
	_, after, found = bytes.Cut(after, totalEquals)
	if !found {
		return 0
	}
	microseconds, _, err := leadingNumber(after)
	if err != nil {
		return 0
	}
	return time.Duration(min(microseconds, int64(1)<<53)) * time.Microsecond
}

// ioStat sums up the lines of io.stat: "254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0".
func ioStat(content []byte) host.BlockIO {
	var out host.BlockIO
	for _, of := range []struct {
		key []byte
		to  *int64
	}{{rbytes, &out.ReadBytes}, {wbytes, &out.WrittenBytes}, {rios, &out.Reads}, {wios, &out.Writes}} {
		*of.to = sumAfter(content, of.key)
	}
	return out
}

// blkio sums up the lines "254:0 Read 12" and "254:0 Write 34" of version 1.
func blkio(content []byte) (read, written int64) {
	return sumAfter(content, readColumn), sumAfter(content, writeColumn)
}

var (
	some        = []byte("some ")
	full        = []byte("full ")
	totalEquals = []byte("total=")
	rbytes      = []byte(" rbytes=")
	wbytes      = []byte(" wbytes=")
	rios        = []byte(" rios=")
	wios        = []byte(" wios=")
	readColumn  = []byte(" Read ")
	writeColumn = []byte(" Write ")
)

// sumAfter adds up the numbers that follow each occurrence of a key.
func sumAfter(content, key []byte) int64 {
	var sum int64
	for {
		at := bytes.Index(content, key)
		if at < 0 {
			return sum
		}
		value, rest, err := leadingNumber(content[at+len(key):])
		if err == nil && value >= 0 && sum <= int64(1)<<62-1 {
			sum += min(value, int64(1)<<62-1)
		}
		content = rest
	}
}

func (s *slowFiles) close() {
	for _, file := range []*files.File{&s.cpu, &s.memory, &s.io, &s.transferred, &s.served} {
		closeFile(file)
	}
}
