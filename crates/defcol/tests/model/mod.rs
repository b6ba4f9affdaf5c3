mod forces;
