package main

// systems returns all systems.
func systems() []system {
	return []system{
		guavaSystem(), rustParquetSystem(), clubcardSystem(), duckDBSystem(), pyArrowSystem(), parquetMRSystem(),
		redisBloomSystem(), sparkSystem(), xorfSystem(), fastFilterSystem(), pyFuseFilterSystem(),
	}
}
