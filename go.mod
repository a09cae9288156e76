module github.com/bloomery/bloomery

go 1.26.0

require (
	github.com/FastFilter/xorfilter v0.4.2-0.20260120015552-4e5a4d9df65a
	github.com/dchest/siphash v1.2.3
	github.com/klauspost/compress v1.20.3
	github.com/zeebo/xxh3 v1.1.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
)

require github.com/klauspost/cpuid/v2 v2.2.10 // indirect
