mod air;
